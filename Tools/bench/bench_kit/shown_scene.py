"""A scene that is shown. This needs nothing beside Python, because the tests of the Debian packages use it too."""

import os
import subprocess

from .processes import Failure, Process, now_ns


class ShownScene:
    """A scene on a display: it stands still until `start`."""

    def __init__(self, scene, display, ticks, folder):
        self.process = Process(
            "the scene", self.command(scene, display, ticks), os.path.join(folder, "scene.log"), display.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        #: When each count was drawn, once it has ended (CLOCK_MONOTONIC, ns); empty where nothing watches that.
        self.drawn = {}
        self.seconds = ticks / scene.facts.ticks_per_second
        self._read("ready", 30)

    def command(self, scene, display, ticks):
        """What shows the scene."""
        return [scene.program, "--display", display.name, "--scene", scene.name, "--start-on-line",
                "--fps", str(scene.facts.ticks_per_second), "--frames", str(ticks + 1)]

    def start(self):
        """Lets it move, and gives the time when it began (CLOCK_MONOTONIC, ns)."""
        try:
            self.process.child.stdin.write(b"\n")
            self.process.child.stdin.flush()
        except OSError:
            self.process.require_running()
        return self._read("started", 10)

    def wait_for_end(self):
        """The time when it has drawn its last tick."""
        return self._read("stopped", self.seconds + 20)

    def close(self):
        self.process.stop()

    def _read(self, word, seconds):
        line = self.process.read_line(seconds, word)
        words = line.split()
        if not words or words[0] != word:
            raise Failure("%s said '%s' instead of '%s'" % (self.process.name, line, word))
        return int(words[1]) if len(words) > 1 else now_ns()
