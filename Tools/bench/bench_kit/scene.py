"""The scenes: where things are in them, and their pictures without a display, to compare with."""

import subprocess

import numpy

from .processes import Failure


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

    def _ask(self, *arguments):
        result = subprocess.run(self._command(*arguments), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60)
        if result.returncode != 0:
            raise Failure("screenrelay-scene %s failed" % " ".join(arguments))
        return result.stdout

    def _command(self, *arguments):
        return [self.program, "--scene", self.name, "--size", "%dx%d" % self.size, *arguments]
