"""How shares and captures of a Wayland desktop are run here."""

import contextlib
import os
import re
import shlex
import subprocess
import time

from bench_kit.desktop import WaylandDesktop
from bench_kit.processes import Failure, wait_until

from .apart import track, watch
from .peers import REPOSITORY, FFmpeg
from .running import run, words_here
from .stage import SIZE, START, Screenrelay

WINDOW = os.path.join(REPOSITORY, "Tests", "EndToEndTests", "Clients", "wayland_window.py")
RED = "ff0000"
#: A new monitor is the only one.
NEW = ["bare", "new"]


def share(stage, command, limit):
    """A share of a desktop with a red window, where the person who is asked agrees."""
    is_new = _is_new(command)
    given = re.search(r"--size (\d+)x(\d+)", command.text)
    size = (int(given[1]), int(given[2])) if given else (1920, 1080) if is_new else SIZE
    with _started(stage, command) as (one, environment, window):
        shared = Screenrelay(one)
        seconds = FFmpeg(stage, ["-i", shared.rtsp]).first("video", one.begun + limit) - one.begun
        # There is no monitor for the window before that.
        if is_new:
            window = _show_red(stage, environment)

        def is_shown():
            if _is_red(stage, shared.link, size):
                return True
            # On a busy machine, mutter may leave out the last picture until something is painted.
            window.tell(RED)
            return False

        wait_until(is_shown, limit, "the red window")
        return seconds, "mutter"


def capture(stage, command, limit):
    """A capture of a desktop of its own, seen through the host that its link leads to."""
    url = track(stage, command)
    with _started(stage, command) as (one, *_):
        return watch(stage, url, one.begun, limit), "mutter"


@contextlib.contextmanager
def _started(stage, command):
    """The command, started on a desktop of its own, which has a red window unless the command adds the only monitor;
    the desktop's environment; and the window. All that was started there ends with the desktop."""
    count, is_new = len(stage.running), _is_new(command)
    with WaylandDesktop(SIZE, stage.folder, NEW if is_new else ()) as desktop:
        environment = _environment(stage, desktop)
        try:
            window = None if is_new else _show_red(stage, environment)
            yield stage.start(words_here(stage, command.text), environment), environment, window
        finally:
            stage.end_since(count)


def _is_new(command):
    return "--monitor new" in command.text


def _environment(stage, desktop):
    # The settings are those of the stage's home.
    own = {**desktop.environment, **stage.environment, "DISPLAY": None}
    return own | {name: desktop.environment[name] for name in ("XDG_RUNTIME_DIR", "WAYLAND_DISPLAY")}


def _show_red(stage, environment):
    window = stage.start(["/usr/bin/python3", WINDOW, RED], environment)
    window.wait(lambda when, line: when if line == "painted " + RED else None, time.monotonic() + START, "window")
    return window


def _is_red(stage, link, size):
    picture = os.path.join(stage.folder, "wayland.png")
    run(stage, "screenrelay snapshot %s -o %s" % (shlex.quote(link), picture), START)
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", picture, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        check=True, timeout=20, stdout=subprocess.PIPE).stdout
    if len(raw) != 3 * size[0] * size[1]:
        raise Failure("the picture has %d bytes" % len(raw))
    red, green, blue = raw[len(raw) // 2:][:3]
    return red > 200 and green < 50 and blue < 50
