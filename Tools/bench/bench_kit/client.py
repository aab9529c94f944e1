"""A Python program of the tests' environment, and when it said what."""

import json
import os
import subprocess
import threading
import time

from .bench import REPOSITORY
from .processes import Process, wait_until

PYTHON = os.path.join(REPOSITORY, ".build", "python", "rtc", "bin", "python")
CLIENTS = os.path.join(REPOSITORY, "Tests", "EndToEndTests", "Clients")


def missing():
    """What is missing for a measurement; None if nothing is."""
    if not os.access(PYTHON, os.X_OK):
        return "the Python environment with aiortc is missing; Tools/python makes it"
    return None


class Client:
    """A program that says one JSON object a line, and ends at the end of its standard input."""

    def __init__(self, name, arguments, folder):
        self.said = []  # (seconds of CLOCK_MONOTONIC, what)
        self.process = Process(name, [PYTHON, *arguments], os.path.join(folder, name + ".log"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, args=[self.process.child.stdout], daemon=True)
        self._reader.start()

    def _read(self, output):
        for line in output:
            self.said.append((time.monotonic(), json.loads(line)))

    def first(self, event, since=0.0, **facts):
        """When it first said so at or after this time; None if it hasn't. A number in `facts` is the least."""
        for when, what in list(self.said):
            if when >= since and what["event"] == event and all(what[key] >= facts[key] for key in facts):
                return when
        return None

    def wait_for(self, event, seconds, since=0.0, **facts):
        def has_said():
            if self.first(event, since, **facts) is None:
                self.process.require_running()
                return False
            return True

        wait_until(has_said, seconds, "%s's '%s'" % (self.process.name, event))
        return self.first(event, since, **facts)

    def ask(self, command, seconds):
        """Writes a command to it, and gives the object whose event has the command's first word."""
        begun, event = time.monotonic(), command.split()[0]
        try:
            self.process.child.stdin.write(command.encode() + b"\n")
            self.process.child.stdin.flush()
        except OSError:
            self.process.require_running()
        self.wait_for(event, seconds, begun)
        return next(what for when, what in self.said if when >= begun and what["event"] == event)

    def origin(self, seconds):
        """The origin of its web server, once it is ready."""
        self.wait_for("ready", seconds)
        return "http://127.0.0.1:%d" % next(what["port"] for _, what in self.said if what["event"] == "ready")

    def close(self):
        self.process.child.kill()
        self._reader.join(5)
        self.process.stop()
