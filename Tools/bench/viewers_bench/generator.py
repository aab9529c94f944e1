"""Runs bench-viewers, and reads what it prints."""

import json
import os
import select
import subprocess
import time

from bench_kit.processes import Failure, Process


#: Seconds that beginning and ending a phase may take.
PHASE = 30


class Program:
    """A run of bench-viewers, which prints a JSON object per line."""

    def __init__(self, path, words, folder):
        self.process = Process("bench-viewers", [path, *words, "--json"], os.path.join(folder, "bench-viewers.log"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.buffer = b""

    def mark(self):
        """Begins a phase of `generate --phases`, or ends it."""
        try:
            self.process.child.stdin.write(b"\n")
            self.process.child.stdin.flush()
        except OSError:
            raise Failure("bench-viewers ended: %s" % self.process.last_words())

    def wait_for(self, event, seconds):
        """The object of this event."""
        deadline, output = time.monotonic() + seconds, self.process.child.stdout
        while True:
            while b"\n" in self.buffer:
                line, self.buffer = self.buffer.split(b"\n", 1)
                found = json.loads(line)
                if found["event"] == event:
                    return found
            ready, _, _ = select.select([output], [], [], max(0, deadline - time.monotonic()))
            data = os.read(output.fileno(), 65536) if ready else b""
            if not data:
                raise Failure("bench-viewers: no %s within %g s: %s" % (event, seconds, self.process.last_words()))
            self.buffer += data

    def measure(self, work):
        """A phase of `generate --phases`, while `work` runs; gives what `work` gives, and the result."""
        self.mark()
        self.wait_for("measuring", PHASE)
        found = work()
        self.mark()
        self.wait_for("measured", PHASE)
        return found, self.wait_for("result", PHASE)

    def close(self):
        self.process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
