"""Processes whose lines are kept with the times at which they came, and ports."""

import json
import os
import signal
import subprocess
import threading
import time

from bench_kit.processes import Failure, Missing


class Talker:
    """A process that says something, a line at a time."""

    def __init__(self, command, folder, environment=None):
        """`environment` has what differs from this process's own; None takes a variable away."""
        self.name = os.path.basename(command[0])
        self.lines = []  # (time.monotonic(), text)
        self.said = b""  # all of it, with a question that no newline has ended
        own = {**os.environ, **(environment or {})}
        self.begun = time.monotonic()
        self.log_path = os.path.join(folder, "%s-%d.log" % (self.name, time.monotonic_ns()))
        with open(self.log_path, "wb") as log:
            try:
                self.child = subprocess.Popen(
                    command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                    env={name: value for name, value in own.items() if value is not None})
            except OSError as error:
                raise Missing("%s can't be started: %s" % (command[0], error))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        begun = 0
        while more := os.read(self.child.stdout.fileno(), 1 << 16):
            self.said += more
            while (end := self.said.find(b"\n", begun)) >= 0:
                self.lines.append((time.monotonic(), self.said[begun:end].decode(errors="replace").rstrip("\r")))
                begun = end + 1

    def wait(self, find, deadline, what):
        """Gives what `find(time, line)` gives of the first line for which that isn't None."""
        seen = 0
        while True:
            # Whether it has ended is asked first, so that its last lines are looked at.
            has_ended = self.child.poll() is not None and not self._reader.is_alive()
            for when, line in self.lines[seen:]:
                seen += 1
                found = find(when, line)
                if found is not None:
                    return found
            if has_ended:
                raise Failure("%s ended (%d) before %s: %s" % (
                    self.name, self.child.returncode, what, self.last_words()))
            if time.monotonic() > deadline:
                raise Failure("no %s: %s" % (what, self.last_words()))
            time.sleep(0.01)

    def event(self, name, deadline, **facts):
        """The time, and the object of a client of the tests, which says one a line."""
        def find(when, line):
            said = json.loads(line)
            is_wanted = said.get("event") == name and all(said.get(key) == value for key, value in facts.items())
            return (when, said) if is_wanted else None

        return self.wait(find, deadline, "'%s'" % name)

    def tell(self, line):
        """Gives it a command."""
        os.write(self.child.stdin.fileno(), line.encode() + b"\n")

    def last_words(self):
        with open(self.log_path, "rb") as log:
            words = log.read()[-300:].decode(errors="replace").split()
        return " ".join(words) or " ".join(line for _, line in self.lines[-2:])[-300:] or "it said nothing"

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
            try:
                self.child.wait(5)
            except subprocess.TimeoutExpired:
                self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self._reader.join(5)
        self.child.stdout.close()


def is_bound(port, is_datagram=False):
    """Whether a socket without a peer has the port (proc(5))."""
    with open("/proc/net/udp" if is_datagram else "/proc/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    return any(row[1].endswith(":%04X" % port) and row[2].endswith(":0000") for row in rows)
