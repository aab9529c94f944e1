"""What records a display: how each program is started, and how its stream is had."""

import os
import signal
import tempfile

from .annexb import AccessUnit, access_units
from .display import Display
from .link import LinkReceiver
from .processes import Process


class Recorder:
    """A program that records a display into a file of H.264. Subclasses say how."""

    name = ""
    #: What it records: a Display, or what has the same methods.
    display_type = Display
    #: How its RGB becomes luma: the matrix that its makers chose, or None where it has to be found out.
    matrix = None
    stop_signal = signal.SIGINT
    #: Whether it sends nothing while nothing changes, once it has made the picture sharp.
    comes_to_rest = False

    def start(self, display, size, folder):
        self.path = os.path.join(folder, "stream.264")
        self.process = Process(self.name, self.command(display, size), os.path.join(folder, "program.log"),
                               environment=display.environment)

    def command(self, display, size):
        raise NotImplementedError

    @property
    def pid(self):
        return self.process.pid

    @property
    def position(self):
        """Bytes of its stream so far."""
        try:
            return os.path.getsize(self.path)
        except OSError:
            return 0

    def stop(self):
        self.process.stop(self.stop_signal)

    def stream(self):
        """The stream's bytes and its access units."""
        with open(self.path, "rb") as file:
            data = file.read()
        return data, access_units(data)

    def link_pictures(self):
        """What the link told of each picture, where there is one."""
        return None


class Ours(Recorder):
    """screenrelay-capture, with a receiver of its link in this process."""

    name = "screenrelay"
    matrix = "601"
    comes_to_rest = True
    stop_signal = signal.SIGTERM

    def __init__(self, program, arguments=()):
        self.program, self.arguments = program, list(arguments)

    def start(self, display, size, folder):
        # A Unix socket's path is short by law (108 bytes): not in `folder`.
        self.socket_folder = tempfile.mkdtemp(prefix="crb")
        path = os.path.join(self.socket_folder, "s")
        self.receiver = LinkReceiver(path)
        self.process = Process(
            self.name,
            [self.program, "--link", "unix:" + path, *display.capture_options, "--log", "warning", *self.arguments],
            os.path.join(folder, "program.log"), display.environment)

    @property
    def position(self):
        return self.receiver.position

    def stop(self):
        self.process.stop(self.stop_signal)
        self.receiver.close()
        os.rmdir(self.socket_folder)

    def stream(self):
        return bytes(self.receiver.stream), [AccessUnit(one.offset, one.end) for one in self.receiver.pictures]

    def link_pictures(self):
        return self.receiver.pictures
