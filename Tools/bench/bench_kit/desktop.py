"""A Wayland desktop without a GPU, a display or a person, which the tests use too, and scenes on it."""

import json
import os
import signal
import subprocess
import sys
import tempfile

from .bench import REPOSITORY
from .processes import Failure, Process, thread_times
from .room import children
from .shown_scene import ShownScene

TESTS = os.path.join(REPOSITORY, "Tests", "WaylandCaptureTests", "wayland_desktop.py")
COMMAND = ["/usr/bin/python3", TESTS]


class WaylandDesktop:
    """PipeWire, mutter with one monitor, the portal, and a backend that grants everything; `more` are further parts."""

    def __init__(self, size, folder, more=()):
        # A Unix socket's path is short by law (108 bytes): not in `folder`.
        self.own = tempfile.TemporaryDirectory(prefix="srw")
        home = os.path.join(self.own.name, "home")
        self.environment = {
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=%s/bus" % self.own.name,
            "XDG_RUNTIME_DIR": os.path.join(self.own.name, "run"), "WAYLAND_DISPLAY": "wayland-test",
            "HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home}
        self.capture_options = ["--source", "wayland"]
        self.process = Process(
            "the desktop", [*COMMAND, self.own.name, "%dx%d" % size, "portal", "backend", "screen", *more],
            os.path.join(folder, "desktop.log"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            line = self.process.read_line(30, "ready")
            if line != "ready":
                raise Failure("the desktop said '%s' instead of 'ready'" % line)
        except BaseException:
            self.close()
            raise

    def show(self, scene, ticks, folder):
        """The scene on this desktop, as a ShownScene."""
        return WaylandScene(scene, self, ticks, folder)

    def thread_times(self):
        """Nanoseconds that each thread of its programs has run: mutter, PipeWire, WirePlumber and the portal."""
        times = {}
        for pid in children(self.process.pid):
            times.update(thread_times(pid))
        return times

    def close(self):
        # It ends at the end of its input.
        self.process.child.stdin.close()
        try:
            self.process.child.wait(5)
        except subprocess.TimeoutExpired:
            pass
        self.process.stop(signal.SIGKILL)
        self.own.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class WaylandScene(ShownScene):
    """A scene over all of a Wayland desktop, with a pointer."""

    def command(self, scene, display, ticks):
        facts = scene.facts
        moves = scene.name != "idle" and scene.name != "pointer"
        return [sys.executable, "-m", "bench_kit.wayland_client", json.dumps({
            "program": scene.program, "scene": scene.name, "size": scene.size, "rate": facts.ticks_per_second,
            "ticks": ticks, "painted": list(range(0, ticks + 1, facts.ticks_per_count)) if moves else [0],
            "count": facts.ticks_per_count, "pointer": facts.pointer})]

    def wait_for_end(self):
        stopped = super().wait_for_end()
        drawn = json.loads(self.process.read_line(5, "what was drawn"))
        self.drawn = {int(count): time for count, time in drawn.items()}
        return stopped
