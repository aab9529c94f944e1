"""How commands of the guides for watching, publishing and pushing are run here, and how they show their first picture.

A recipe gives the seconds to the first picture, and what else there is to say. Words of the document that stand for
something, such as TOKEN or live.example, are replaced; all others are run as they are written.
"""

import os
import re
import shlex
import subprocess
import time

from bench_kit.processes import Failure

from . import peers
from .peers import FFmpeg, Server
from .running import run, words_here
from .stage import Screenrelay

def player(stage, command, limit):
    words = [stage.share.rtsp if word.startswith("rtsp://") else word for word in shlex.split(command.text)]
    begun = time.monotonic()
    return peers.window(stage, words, begun + limit) - begun, ""


def gstreamer(stage, command, limit):
    """An RTSP URL, by GStreamer; the blocks have other players."""
    words = ["gst-launch-1.0", "-q", "playbin", "uri=" + _fill(stage, command.text), "video-sink=ximagesink",
             "audio-sink=fakesink sync=true"]
    begun = time.monotonic()
    return peers.window(stage, words, begun + limit) - begun, "GStreamer's playbin"


def page(stage, command, limit):
    return peers.browser(stage, _fill(stage, command.text), time.monotonic() + limit), "Chromium"


def whep(stage, command, limit):
    url = _fill(stage, command.text.split()[1])
    one = peers.client(stage, "rtc", "whep_player", [url, "--token", stage.share.token])
    return one.event("frame", one.begun + limit)[0] - one.begun, "aiortc, with its start"


def socketio(stage, command, limit):
    one = peers.client(stage, "socketio5", "socketio_client", [
        "--url", _fill(stage, command.text), "--room", "%s,%s" % (stage.share.room, stage.share.token),
        "--transport", "websocket"])
    return one.event("frame", one.begun + limit)[0] - one.begun, "aiortc, with its start"


def skyrtc(stage, command, limit):
    one = peers.client(stage, "rtc", "skyrtc_client", [
        stage.share.place.replace("http", "ws", 1) + command.text,
        "%s,%s" % (stage.share.room, stage.share.token)])
    return one.event("video", one.begun + limit)[0] - one.begun, "aiortc, with its start"


def picture(stage, command, limit):
    path = command.text.split()[-1]
    return _written(stage, "curl -sSf -H 'Authorization: Bearer %s' %s%s -o shot%s" % (
        stage.share.token, stage.share.place, path, os.path.splitext(path)[1]), limit), "curl"


def snapshot(stage, command, limit):
    return _written(stage, command.text.replace("LINK", shlex.quote(stage.share.link)), limit), ""


def _written(stage, text, limit):
    """Seconds until the command has written a picture of the scene into the file after -o."""
    path, raw = (os.path.join(stage.folder, name) for name in (re.search(r" -o (\S+)", text)[1], "raw"))
    for old in (path, raw):
        if os.path.exists(old):
            os.remove(old)
    begun = time.monotonic()
    _run(stage, text, limit)
    ended = time.monotonic()
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-f", "rawvideo", "-pix_fmt", "bgr0", raw],
                   check=True, timeout=20)
    if not peers.is_scene(raw):
        raise Failure("the picture isn't the scene's")
    return ended - begun


def share(stage, command, limit):
    """A share, with its pushes if it has some; else FFmpeg watches by RTSP."""
    words = words_here(stage, command.text)
    places = [place for place, word in enumerate(words) if word == "--push"]
    servers = []
    try:
        for place in places:
            servers.append(Server(stage, words[place + 1]))
            words[place + 1] = servers[-1].url
        one = stage.start(words, stage.environment)
        readers = servers or [FFmpeg(stage, ["-i", Screenrelay(one).rtsp])]
        try:
            return _first(stage, readers, one.begun, limit)
        except Failure as error:
            raise Failure("%s; the share: %s" % (error, " ".join(line for _, line in one.lines[-2:])))
    finally:
        for server in servers:
            server.close()


def push(stage, command, limit):
    """An address to push to, as a share has it in `--push`."""
    return share(stage, _with(command, "screenrelay share --push " + command.text), limit)


def control(stage, command, limit):
    """One of the commands for pushes that run; they are in one block, and need those before them."""
    words = command.text.split()
    begun = time.monotonic()
    if words[2] == "add":
        stage.pushed = Server(stage, words[3])
        begun = time.monotonic()
        _run(stage, command.text.replace(words[3], shlex.quote(stage.pushed.url)), limit)
        return _first(stage, [stage.pushed], begun, limit)
    if words[2] == "list":
        said = _run(stage, command.text, limit)
        if "connected" not in said:
            raise Failure("it said: " + said)
        return None, "said the push is connected"
    if words[2] == "stop":
        _run(stage, command.text, limit)
        _wait_for_state(stage, "disconnected", limit)
        return None, "it has ended"
    stage.pushed.listen()
    begun = time.monotonic()
    _run(stage, command.text, limit)
    return _first(stage, [stage.pushed], begun, limit)


def interface(stage, command, limit):
    """A push by HTTP, of a file that stands beside it."""
    server = Server(stage, "rtmp://live.example/app/key")
    with open(os.path.join(stage.folder, "push.json"), "w") as file:
        file.write('{"url": "%s", "preset": "low3"}' % server.url)
    begun = time.monotonic()
    said = _run(stage, command.text.replace("127.0.0.1:8080", stage.share.place[len("http://"):]), limit)
    try:
        return _first(stage, [server], begun, limit)
    except Failure as error:
        raise Failure("%s; curl: %s" % (error, said))


def sources(stage, command, limit):
    """A host that reads: what it reads is what the share sends, as a camera or a server would, or has sent."""
    words, names = command.text.split(), []
    for place in [place + 1 for place, word in enumerate(words) if word == "--source"]:
        url, _, track = words[place].partition(",track=")
        words[place] = _source(stage, url) + (",track=" + track if track else "")
        names.append("/" + track if track else "")
    one = stage.start(words, stage.home("host-%d" % command.line, "rtsp=0\n"))
    host = Screenrelay(one)
    return _first(stage, [FFmpeg(stage, ["-i", host.rtsp + name]) for name in names], one.begun, limit)


def _source(stage, url):
    if url.startswith("rtsp:"):
        return stage.share.rtsp
    server = Server(stage, "file:talk.mp4" if url.startswith("file:") else "srt://HOST:PORT?mode=listener")
    number = _run(stage, "screenrelay push add " + shlex.quote(server.url), 10).split()[1]
    if url.startswith("srt:"):
        return "srt://127.0.0.1:%d" % server.port
    server.first("video", time.monotonic() + 20)
    # Some seconds of it.
    time.sleep(3)
    _run(stage, "screenrelay push stop " + number, 10)
    _wait_for_state(stage, "disconnected", 10)
    return "file:" + server.path


def host(stage, command, limit):
    """A host whose presenters publish by WHIP."""
    one = stage.start(command.text.split(), stage.home("host-%d" % command.line, "rtsp=0\n"))
    return _publish(stage, Screenrelay(one), "", limit)


def publish(stage, command, limit):
    one = stage.start(["screenrelay", "host", "--presenters"], stage.home("host-%d" % command.line, "rtsp=0\n"))
    return _publish(stage, Screenrelay(one), "/TRACK", limit)


def _publish(stage, host, track, limit):
    """The share publishes by itself, and GStreamer and aiortc after it."""
    token = host.after("with the bearer token ")
    url, said = "%s/whip/%s" % (host.place, host.room), []
    publishers = {
        "share --push": lambda name: stage.start(
            ["screenrelay", "share", "--push", "whip:" + name.replace("://", "://%s@" % token)], stage.environment),
        "GStreamer": lambda name: peers.client(stage, "debian", "whip_gstreamer", [name, token]),
        "aiortc": lambda name: peers.client(
            stage, "rtc", "whip_publisher", [name, token] + (["--tone", "440"] if stage.audio != "no" else [])),
    }
    times = []
    for number, (name, start) in enumerate(publishers.items()):
        count = len(stage.running)
        path = track + str(number) if track else ""
        begun = time.monotonic()
        publisher = start(url + path)
        if name != "share --push":
            answer = publisher.event("answered", begun + limit)[1]
            if answer["status"] != 201:
                raise Failure("%s: the host says %d: %s" % (name, answer["status"], answer["text"]))
        # The track is there when its publisher is.
        while True:
            reader = FFmpeg(stage, ["-i", host.rtsp + path])
            try:
                times.append(reader.first("video", begun + limit) - begun)
                break
            except Failure as error:
                if time.monotonic() > begun + limit:
                    raise Failure("%s: %s" % (name, error))
        said.append("%s %.1f" % (name, times[-1]))
        if name != "share --push":
            # One that vanishes keeps its track for some seconds.
            publisher.tell("leave")
            publisher.event("left", time.monotonic() + 5)
        stage.end_since(count)
    return times[0], ", ".join(said)


def _first(stage, readers, begun, limit):
    """Seconds until the last of the readers has its first picture; and its first sound, if there is to be some."""
    deadline = begun + limit
    times = [reader.first("video", deadline) - begun for reader in readers]
    said = [", ".join("%.1f" % one for one in times)] if len(times) > 1 else []
    if stage.audio == "tone":
        for reader in readers:
            try:
                said.append("sound %.1f" % (reader.first("audio", max(deadline, time.monotonic() + 1)) - begun))
            except Failure as error:
                said.append("no sound (%s)" % error)
    return max(times), "; ".join(said)


def _run(stage, text, limit):
    """The same, while the share runs."""
    stage.share
    return run(stage, text, limit)


def _wait_for_state(stage, state, limit):
    deadline = time.monotonic() + limit
    while '"state":"%s"' % state not in _run(stage, "screenrelay push list --json", limit).replace(" ", ""):
        if time.monotonic() > deadline:
            raise Failure("the push isn't %s" % state)


def _fill(stage, text):
    share = stage.share
    return text.replace("rtsp://viewer:TOKEN@HOST:PORT/ROOM", share.rtsp).replace(
        "http://HOST:PORT", share.place).replace("ROOM", share.room).replace("TOKEN", share.token)


def _with(command, text):
    return type(command)(command.guide, command.line, text, False, command.group)
