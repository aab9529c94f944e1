"""The host's own figures during a measurement."""

import threading
import time

from bench_kit.processes import Failure


class Watch(threading.Thread):
    """Looks at the host once per second, from its start to its end."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.host, self.over, self.failure, self.samples = host, threading.Event(), None, [self.look(host)]

    @staticmethod
    def look(host):
        try:
            return {"time": time.monotonic(), "cpu_ns": sum(host.threads().values()), "memory_kib": host.memory(),
                    **host.metrics()}
        except OSError as error:
            raise Failure("the host is gone: %s" % error)

    def run(self):
        while not self.over.wait(1):
            try:
                self.samples.append(self.look(self.host))
            except Failure as error:
                self.failure = error
                return

    def finish(self):
        """The samples, with one of the end."""
        self.over.set()
        self.join()
        if self.failure:
            raise self.failure
        return self.samples + [self.look(self.host)]


def most_at_low_rate(samples):
    """The most viewers that got the low-rate rendition at once."""
    return max(one["narrow_viewers"] for one in samples)
