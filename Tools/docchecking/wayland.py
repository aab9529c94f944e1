"""How shares of a Wayland desktop are run here."""

import os
import shlex
import subprocess
import time

from capture_bench.processes import Failure, wait_until
from wayland_bench.desktop import WaylandDesktop

from .peers import REPOSITORY, FFmpeg
from .running import run, words_here
from .stage import SIZE, START, Screenrelay

WINDOW = os.path.join(REPOSITORY, "Tests", "EndToEndTests", "Clients", "wayland_window.py")
RED = "ff0000"


def share(stage, command, limit):
    """A share of a desktop with a red window, where the person who is asked agrees."""
    count = len(stage.running)
    with WaylandDesktop(SIZE, stage.folder) as desktop:
        # The settings are those of the stage's home.
        own = {**desktop.environment, **stage.environment, "DISPLAY": None}
        environment = own | {name: desktop.environment[name] for name in ("XDG_RUNTIME_DIR", "WAYLAND_DISPLAY")}
        try:
            window = stage.start(["/usr/bin/python3", WINDOW, RED], environment)
            window.wait(lambda when, line: when if line == "painted " + RED else None, time.monotonic() + START, "window")
            one = stage.start(words_here(stage, command.text), environment)
            shared = Screenrelay(one)
            seconds = FFmpeg(stage, ["-i", shared.rtsp]).first("video", one.begun + limit) - one.begun
            wait_until(lambda: _is_red(stage, shared.link), limit, "the red window")
            return seconds, "mutter"
        finally:
            stage.end_since(count)


def _is_red(stage, link):
    picture = os.path.join(stage.folder, "wayland.png")
    run(stage, "screenrelay snapshot %s -o %s" % (shlex.quote(link), picture), START)
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", picture, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        check=True, timeout=20, stdout=subprocess.PIPE).stdout
    if len(raw) != 3 * SIZE[0] * SIZE[1]:
        raise Failure("the picture has %d bytes" % len(raw))
    red, green, blue = raw[len(raw) // 2:][:3]
    return red > 200 and green < 50 and blue < 50
