"""What a measurement of OBS starts: a screen with a scene, a host, a tap between them, publishers, and a player."""

import dataclasses
import os
import signal
import time

from bench_kit import framebuffer
from bench_kit.display import Display
from bench_kit.processes import Failure, Process
from bench_kit.scene import Scene
from bench_kit.shown_scene import ShownScene
from bench_kit.started import Started
from bench_kit.watching import Watcher

from .host import ROOMS, Host
from .player import Player
from .studio import BIT_RATE, RATE, Studio
from .tap import Tap

SIZE, SCENE = (1280, 720), "scroll"
#: OBS's option of x264 without which it sends B-frames.
NO_B_FRAMES = "bframes=0"
#: Seconds until a publisher's first picture.
START = 40


@dataclasses.dataclass(frozen=True)
class Way:
    program: str
    protocol: str
    has_b_frames: bool

    @property
    def title(self):
        return "%s, %s, %s" % (self.program, self.protocol.upper(), "B-frames" if self.has_b_frames else "no B-frames")


WAYS = [Way(program, protocol, has_b_frames)
        for program, protocol in (("OBS", "rtmp"), ("FFmpeg", "rtmp"), ("OBS", "srt"), ("OBS", "rtmps"))
        for has_b_frames in (True, False)]


class Stage(Started):
    """The screen, the scene on it, which stands still, and the host; ends all that it has started."""

    def __init__(self, bench, folder, seconds, more=()):
        super().__init__()
        self.folder = os.path.join(folder, "screen")
        os.makedirs(self.folder)
        try:
            self.screen = self.add(Display(SIZE, self.folder, framebuffer.options(self.folder)))
            scene = Scene(bench.program("screenrelay-scene"), SCENE, SIZE)
            self.shown = self.add(ShownScene(scene, self.screen, scene.ticks(seconds), self.folder))
            self.host = self.add(Host(bench.program("screenrelay"), None, folder, more))
            self.tap = self.add(Tap(self.host.ports["rtmp"]))
        except BaseException:
            self.close()
            raise

    def studio(self, folder, server, key, x264="", prefix=()):
        return self.add(Studio(folder, self.screen.name, SIZE, server, key, x264, prefix))

    def tapped(self):
        """OBS's server by way of the tap."""
        return "rtmp://127.0.0.1:%d/live" % self.tap.port

    def watcher(self, folder):
        return self.add(Watcher(self.folder, [], folder))


def publish(stage, way, folder, prefix=()):
    """OBS or FFmpeg, which `prefix` starts; over RTMP, it publishes by way of the tap."""
    key = stage.host.key(ROOMS[0])
    server, key = {
        "rtmp": (stage.tapped(), key), "rtmps": ("rtmps://localhost:%d/live" % stage.host.ports["rtmp"], key),
        "srt": ("srt://127.0.0.1:%d?streamid=publish:%s" % (stage.host.ports["srt"], key), "")}[way.protocol]
    if way.program == "OBS":
        return stage.studio(folder, server, key, "" if way.has_b_frames else NO_B_FRAMES, prefix)
    rate = "%dk" % BIT_RATE
    process = Process("ffmpeg", [
        "ffmpeg", "-nostdin", "-loglevel", "error", "-probesize", "32", "-analyzeduration", "0", "-f", "x11grab",
        "-draw_mouse", "0", "-framerate", str(RATE), "-video_size", "%dx%d" % SIZE, "-i", stage.screen.name,
        # As OBS has x264; without B-frames as it has it with that option.
        "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-b:v", rate, "-maxrate", rate, "-bufsize",
        rate, "-g", "250", *([] if way.has_b_frames else ["-bf", "0"]), "-flush_packets", "1", "-f", "flv",
        "%s/%s" % (server, key)], os.path.join(folder, "ffmpeg.log"))
    stage.callback(process.stop, signal.SIGKILL)
    return process


def join(host, publisher):
    """A player, once the host has pictures."""
    deadline = time.monotonic() + START
    while True:
        for one in (host.process, publisher):
            one.require_running()
        try:
            return Player(*host.place(ROOMS[0]))
        except Failure as error:
            if time.monotonic() > deadline:
                raise Failure("%s; the publisher's last words: %s" % (error, publisher.last_words()))
            time.sleep(0.1)
