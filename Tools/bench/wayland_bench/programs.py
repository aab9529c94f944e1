"""What is measured on a Wayland desktop, and beside it on an X display."""

import os
import shutil
import signal
import subprocess
import sys

from capture_bench.processes import Failure, Missing, Process
from capture_bench.programs import GStreamer, Ours, Recorder

from .desktop import COMMAND, WaylandDesktop

#: Runs what follows with a screen cast; the pointer is drawn into it, as GStreamer doesn't draw what comes beside it.
CAST = [sys.executable, "-m", "wayland_bench.cast", "2"]
#: The same without the pointer.
CAST_WITHOUT_POINTER = CAST[:-1] + ["1"]
SOURCE = ["pipewiresrc", "fd={fd}", "path={node}", "do-timestamp=true"]
NEEDED = {"mutter": "mutter", "pipewire": "pipewire", "wireplumber": "wireplumber", "dbus-daemon": "dbus-daemon",
          "Xvfb": "xvfb", "ffmpeg": "ffmpeg", "gst-launch-1.0": "gstreamer1.0-tools",
          "/usr/libexec/xdg-desktop-portal": "xdg-desktop-portal"}


class OursOnWayland(Ours):
    name = "screenrelay"
    display_type = WaylandDesktop


class OursOnX11(Ours):
    name = "screenrelay on X11"


class GStreamerCast(GStreamer):
    """GStreamer with a screen cast of the portal, as OBS gets one."""

    display_type = WaylandDesktop

    def __init__(self, has_constant_rate):
        super().__init__(False, True)
        if has_constant_rate:
            # As OBS: 30 pictures a second, whether something has changed or not.
            self.source = [*SOURCE, "keepalive-time=33", "!", "videorate", "!", "video/x-raw,framerate=30/1"]
        else:
            self.name = "gstreamer-changes"
            self.source = [*SOURCE, "!", "video/x-raw,max-framerate=30/1"]

    def start(self, display, size, folder):
        self.path = os.path.join(folder, "stream.264")
        self.process = Process(self.name, CAST + self.command(display, size), os.path.join(folder, "program.log"),
                               display.environment, stdout=subprocess.PIPE)
        try:
            self.recorder = int(self.process.read_line(20, "its process id"))
        except Failure:
            self.stop()
            raise

    @property
    def pid(self):
        """GStreamer's, without what asks the portal."""
        return self.recorder


class Receiver(Recorder):
    """A program that receives the screen cast and does nothing with it: no capture has a picture sooner."""

    name = "a bare receiver"
    display_type = WaylandDesktop
    stop_signal = signal.SIGTERM

    def start(self, display, size, folder):
        self.path = os.path.join(folder, "receiver.log")
        self.process = Process(self.name, [*CAST_WITHOUT_POINTER, sys.executable, "-m", "wayland_bench.receiver",
                                           "{fd}", "{node}"], self.path, display.environment)

    def stream(self):
        return b"", []

    def delays(self):
        """For each picture: when it arrived, and how long after it was painted; in ns."""
        with open(self.path) as file:
            lines = [line.split() for line in file]
        return [(int(line[0]), int(line[1])) for line in lines if len(line) == 2 and line[0].isdigit()]


def screenshot(desktop, size, folder):
    """The bytes of the desktop's picture, as RGB, by another screen cast and without our capture's code."""
    path = os.path.join(folder, "screen.rgb")
    command = ["gst-launch-1.0", "-q", *SOURCE, "num-buffers=1", "!", "videoconvert", "!", "video/x-raw,format=RGB",
               "!", "filesink", "location=" + path]
    subprocess.run(CAST_WITHOUT_POINTER + command, check=True, timeout=30, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, **desktop.environment))
    with open(path, "rb") as file:
        data = file.read()
    if len(data) != size[0] * size[1] * 3:
        raise Failure("the desktop's screenshot has %d bytes" % len(data))
    return data


def require_tools():
    """Ends with a Missing that names the package where something isn't installed."""
    for program, package in NEEDED.items():
        if not shutil.which(program):
            _missing(program, package)
    if subprocess.run(["gst-inspect-1.0", "pipewiresrc"], capture_output=True, timeout=60).returncode != 0:
        _missing("GStreamer's pipewiresrc", "gstreamer1.0-pipewire")
    if subprocess.run(COMMAND + ["--check"], capture_output=True, timeout=60).returncode != 0:
        _missing("what the tests' desktop imports", "python3-dbus, python3-gi")


def _missing(what, package):
    raise Missing("%s (Debian: %s) is missing; Tools/setup --bench installs it" % (what, package))
