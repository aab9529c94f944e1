"""What is measured on a Wayland desktop, and beside it on an X display."""

import json
import os
import signal
import subprocess
import sys

from bench_kit.desktop import COMMAND, WaylandDesktop
from bench_kit.processes import Failure, Missing, Process, require_programs
from bench_kit.recorders import Ours, Recorder

from .programs import GStreamer

#: Runs what follows with a screen cast; the pointer is drawn into it, as GStreamer doesn't draw what comes beside it.
CAST = [sys.executable, "-m", "capture_bench.cast", "2"]
#: The same without the pointer.
CAST_WITHOUT_POINTER = CAST[:-1] + ["1"]
SOURCE = ["pipewiresrc", "fd={fd}", "path={node}", "do-timestamp=true"]
NEEDED = {"mutter": "mutter", "pipewire": "pipewire", "wireplumber": "wireplumber", "dbus-daemon": "dbus-daemon",
          "pw-dump": "pipewire-bin", "Xvfb": "xvfb", "ffmpeg": "ffmpeg", "gst-launch-1.0": "gstreamer1.0-tools",
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
    """Receives a screen cast that another program has, and does nothing with it: no capture has a picture sooner. The
    compositor hands each picture to both at once."""

    name = "a bare receiver"
    display_type = WaylandDesktop
    stop_signal = signal.SIGTERM

    def start(self, display, size, folder):
        self.path = os.path.join(folder, "receiver.log")
        self.process = Process(self.name, [sys.executable, "-m", "capture_bench.receiver", "%d" % _cast_node(display)],
                               self.path, display.environment)

    def stream(self):
        return b"", []

    def delays(self, start, end):
        """Milliseconds from painting to arrival, of each picture that arrived between these times (ns)."""
        with open(self.path) as file:
            lines = [line.split() for line in file]
        found = [int(line[1]) / 1e6 for line in lines
                 if len(line) == 2 and line[0].isdigit() and start < int(line[0]) < end]
        if not found:
            raise Failure("no picture has arrived")
        return found


def _cast_node(display):
    """The identifier of the only stream that sends pictures."""
    found = subprocess.run(["pw-dump"], env=dict(os.environ, **display.environment), check=True, timeout=20,
                           capture_output=True)
    nodes = [one["id"] for one in json.loads(found.stdout) if one["type"] == "PipeWire:Interface:Node"
             and one["info"]["props"].get("media.class") == "Stream/Output/Video"]
    if len(nodes) != 1:
        raise Failure("%d screen casts run instead of one" % len(nodes))
    return nodes[0]


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


def require_casts():
    """Ends with a Missing that names the package where something isn't installed."""
    require_programs(NEEDED)
    for check, what, package in (
            (["gst-inspect-1.0", "pipewiresrc"], "GStreamer's pipewiresrc", "gstreamer1.0-pipewire"),
            (COMMAND + ["--check"], "what the tests' desktop imports", "python3-dbus, python3-gi")):
        if subprocess.run(check, capture_output=True, timeout=60).returncode != 0:
            raise Missing("%s (Debian: %s) is missing; Tools/setup --bench installs it" % (what, package))
