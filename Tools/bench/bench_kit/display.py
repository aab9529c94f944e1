"""An X server of its own for each run."""

import os
import select
import signal
import time

from .processes import Failure, Missing, Process, thread_times
from .shown_scene import ShownScene


class Display:
    """Xvfb on a number that it finds itself."""

    def __init__(self, size, folder, options=()):
        reader, writer = os.pipe()
        try:
            self.process = Process(
                "Xvfb",
                ["Xvfb", "-displayfd", str(writer), "-screen", "0", "%dx%dx24" % size, "-nolisten", "tcp", "-noreset",
                 *options],
                os.path.join(folder, "Xvfb.log"), pass_fds=(writer,))
        except Missing:
            os.close(reader)
            raise Missing("Xvfb is missing; Tools/setup installs it")
        finally:
            os.close(writer)
        number = self._read_line(reader)
        os.close(reader)
        if not number.isdigit():
            self.close()
            raise Failure("Xvfb told no display number: " + self.process.last_words())
        self.name = ":" + number
        self.environment = {"DISPLAY": self.name}
        #: What has screenrelay-capture share it.
        self.capture_options = ["--display", self.name]

    @staticmethod
    def _read_line(reader):
        """Number and newline are written one after the other, and Xvfb ends where nobody reads the second."""
        data, deadline = b"", time.monotonic() + 15
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([reader], [], [], max(0, deadline - time.monotonic()))
            more = os.read(reader, 16) if ready else b""
            if not more:
                break
            data += more
        return data.decode().strip()

    def show(self, scene, ticks, folder):
        """The scene on this display, as a ShownScene."""
        return ShownScene(scene, self, ticks, folder)

    def thread_times(self):
        """Nanoseconds that each thread of the server has run."""
        return thread_times(self.process.pid)

    def close(self):
        self.process.stop(signal.SIGTERM)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
