"""What shows that a picture has come: FFmpeg, a player's window, a browser, and the clients of the tests."""

import http.server
import json
import os
import re
import threading
import time

from bench_kit.devtools import Browser
from bench_kit.display import Display
from bench_kit.processes import Failure, free_port

from .processes import is_bound

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENTS = os.path.join(REPOSITORY, "Tests", "EndToEndTests", "Clients")
TOKEN, PIN = "Sesam", "sesame"


class FFmpeg:
    """Decodes what it reads; `input` is how it reads that."""

    def __init__(self, stage, input):
        # Servers don't look at a stream before they take it, as FFmpeg does for up to 5 s.
        self.talker = stage.start(
            ["ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-analyzeduration", "500000",
             *input, "-flush_packets", "1", "-max_interleave_delta", "1", "-map", "0", "-f", "framecrc", "-"])

    def first(self, kind, deadline):
        """When the first picture (`video`) or samples (`audio`) were decoded."""
        streams = {}

        def find(when, line):
            header = re.match(r"#media_type (\d+): (\w+)", line)
            if header:
                streams[header[1]] = header[2]
            elif not line.startswith("#") and streams.get(line.split(",")[0]) == kind:
                return when
            return None

        return self.talker.wait(find, deadline, "picture" if kind == "video" else "sound")


def is_scene(path, start=0):
    """Whether more of a screen in Xvfb's file, or of raw samples, is bright than a line of text would be."""
    with open(path, "rb") as file:
        file.seek(start)
        # Of blue, green, red and nothing; some thousand of them, in all rows and columns.
        sample = file.read()[1::4 * 97]
    return len(sample) > 100 and sum(value > 40 for value in sample) > len(sample) / 5 and len(set(sample)) > 8


def window(stage, words, deadline):
    """When the window of a player shows the scene, on a screen without anything else."""
    folder = os.path.join(stage.folder, "screen-%d" % time.monotonic_ns())
    os.mkdir(folder)
    with Display((640, 480), folder, ["-fbdir", folder]) as display:
        count = len(stage.running)
        player = stage.start(words, {
            **stage.environment, "DISPLAY": display.name,
            "SDL_AUDIODRIVER": "dummy" if stage.audio == "no" else "pulseaudio", "PULSE_SINK": "ears"})
        try:
            while not is_scene(os.path.join(folder, "Xvfb_screen0"), 3232):
                if player.child.poll() is not None:
                    raise Failure("%s ended (%d): %s" % (words[0], player.child.returncode, player.last_words()))
                if time.monotonic() > deadline:
                    raise Failure("no picture: " + player.last_words())
                time.sleep(0.02)
            return time.monotonic()
        finally:
            stage.end_since(count)


def browser(stage, link, deadline):
    """When the room's page has decoded its first picture, from when it was opened; the browser runs already."""
    one = Browser([], os.path.join(stage.folder, "chromium.log"))
    try:
        page = one.new_page()
        begun = time.monotonic()
        page.navigate(link)
        while not page.evaluate("[...document.querySelectorAll('video')].some((video) => video.videoWidth > 0"
                                " && video.getVideoPlaybackQuality().totalVideoFrames > 0)"):
            if time.monotonic() > deadline:
                raise Failure("no picture: " + page.evaluate("document.body.innerText")[:200])
            time.sleep(0.02)
        return time.monotonic() - begun
    finally:
        one.close()


def client(stage, environment, name, arguments):
    """A client of the tests, in one of the environments that Tools/python makes, or in Debian's own Python."""
    python = "/usr/bin/python3" if environment == "debian" else os.path.join(
        REPOSITORY, ".build", "python", environment, "bin", "python")
    return stage.start([python, "-u", os.path.join(CLIENTS, name + ".py"), *arguments],
                       {"PYTHONDONTWRITEBYTECODE": "1"})


class Server:
    """Who takes a push to a documented URL: `url` is the same with an address of this machine."""

    def __init__(self, stage, url):
        self.stage, self.read, self.web = stage, None, None
        scheme = url.split(":")[0]
        make = getattr(self, "_" + scheme, None)
        if not make:
            raise Failure("nothing here takes a push to %s" % scheme)
        self.url = make(url)

    def first(self, kind, deadline):
        return (self.read or self._poll)(kind, deadline)

    def listen(self):
        """Waits for one more connection at the same place."""
        self.read = FFmpeg(self.stage, self.input).first
        self._wait(lambda: is_bound(self.port, self.is_datagram))

    def close(self):
        if self.web:
            self.web.shutdown()
            self.web.server_close()

    def _rtmp(self, url):
        return self._listener(url, ["-listen", "1"])

    def _rtsp(self, url):
        return self._listener(url, ["-rtsp_flags", "listen"])

    def _srt(self, url):
        # libsrt takes passphrases of 10 bytes or more.
        url = url.replace("SECRET", "open-sesame")
        if "mode=listener" not in url:
            return self._listener(url, [], "&mode=listener" if "?" in url else "?mode=listener")
        self.port, self.is_datagram = free_port(True), True
        self.input = ["-i", "srt://127.0.0.1:%d" % self.port]
        return "srt://127.0.0.1:%d?%s" % (self.port, url.split("?", 1)[1])

    def _listener(self, url, options, more=""):
        self.is_datagram = url.startswith("srt:")
        self.port = free_port(self.is_datagram)
        place = re.sub("://[^/?]*", "://127.0.0.1:%d" % self.port, url)
        self.input = [*options, "-i", place + more]
        self.listen()
        return place

    def _whip(self, url):
        return "whip:http://%s@127.0.0.1:%d/whip" % (TOKEN, self._webrtc("whip_server"))

    def _janus(self, url):
        # Its room has this number and this PIN.
        return "janus:ws://%s@127.0.0.1:%d#1234,%s" % (TOKEN, self._webrtc("janus_server"), PIN)

    def _webrtc(self, name):
        server = client(self.stage, "rtc", name, ["0", TOKEN])
        self.read = lambda kind, deadline: server.event("pictures" if kind == "video" else "sound", deadline)[0]
        return server.event("listening", time.monotonic() + 20)[1]["port"]

    def _file(self, url):
        # A relative one is where the share was started.
        name = os.path.basename(url[len("file:"):])
        path = os.path.join(self.stage.folder, name)
        for old in os.listdir(self.stage.folder):
            if old.split(".")[0].split("-")[0] == name.split(".")[0]:
                os.remove(os.path.join(self.stage.folder, old))
        self.input, self.path = ["-i", path], path
        return "file:" + (path if "/" in url else name)

    def _object(self, url):
        place = Server(self.stage, "rtmp://HOST/APP/KEY")
        self.read = place.first
        text = json.dumps({"url": place.url}).encode()
        name = "live.json"
        if "://" not in url:
            with open(os.path.join(self.stage.folder, name), "wb") as file:
                file.write(text)
            return "object:" + name

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.web = http.server.HTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.web.serve_forever, daemon=True).start()
        return "object:http://127.0.0.1:%d/%s" % (self.web.server_address[1], name)

    def _poll(self, kind, deadline):
        """Reads what the push makes itself: a file, or an address at which it waits."""
        self._wait(lambda: os.path.exists(self.path) if hasattr(self, "path") else is_bound(self.port, True), deadline)
        while True:
            count = len(self.stage.running)
            reader = FFmpeg(self.stage, self.input)
            try:
                when = reader.first(kind, deadline)
                if not hasattr(self, "path"):
                    # A push that waits at an address takes one reader.
                    self.read = reader.first
                return when
            except Failure:
                # There is no whole picture in it yet.
                self.stage.end_since(count)
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def _wait(self, condition, deadline=None):
        deadline = deadline or time.monotonic() + 10
        while not condition():
            if time.monotonic() > deadline:
                raise Failure("nothing is there for the reader")
            time.sleep(0.02)
