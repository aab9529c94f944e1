"""The scenes: shown on a display, and the same pictures without one to compare with."""

import functools
import os
import subprocess

import numpy

from .processes import Failure, Process, now_ns

TICKS_PER_SECOND = 30


class Facts:
    """Where things are in a scene; rectangles are (x, y, width, height)."""

    def __init__(self, lines):
        values = {line.split()[0]: [int(word) for word in line.split()[1:]] for line in lines if line.strip()}
        self.counter = tuple(values["counter"])
        self.pointer = tuple(values["pointer"])
        self.text = tuple(values["text"])
        self.moving = tuple(values["moving"])
        self.ticks_per_count = values["ticks-per-count"][0]
        self.ticks_per_second = values["ticks-per-second"][0]


class Scene:
    """One scene at one size."""

    def __init__(self, program, name, size):
        self.program, self.name, self.size = program, name, size
        lines = self._ask("--facts").decode().splitlines()
        self.facts = Facts(lines)

    def ticks(self, seconds):
        return max(1, round(seconds * self.facts.ticks_per_second))

    def pictures(self, ticks):
        """The exact pictures of these ticks: arrays of height x width x RGB, one by one."""
        width, height = self.size
        command = self._command("--dump", ",".join(str(tick) for tick in ticks))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
            for _ in ticks:
                data = child.stdout.read(width * height * 3)
                if len(data) != width * height * 3:
                    raise Failure("screenrelay-scene --dump ended early")
                yield numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3)

    @functools.lru_cache(maxsize=512)
    def words(self, tick):
        """The words that the picture of a tick shows."""
        return tuple(self._ask("--text", str(tick)).decode().split())

    def _ask(self, *arguments):
        result = subprocess.run(self._command(*arguments), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60)
        if result.returncode != 0:
            raise Failure("screenrelay-scene %s failed" % " ".join(arguments))
        return result.stdout

    def _command(self, *arguments):
        return [self.program, "--scene", self.name, "--size", "%dx%d" % self.size, *arguments]


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
