"""The programs that are measured: how each is started, and how its stream is had."""

import os
import signal
import subprocess
import tempfile

from .annexb import AccessUnit, access_units
from .display import Display
from .link import LinkReceiver
from .processes import Missing, Process


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


class Nothing(Recorder):
    """No program at all: what the scene alone costs the X server."""

    name = "nothing"
    pid = None
    position = 1

    def start(self, display, size, folder):
        pass

    def stop(self):
        pass

    def stream(self):
        return b"", []


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


class FFmpeg(Recorder):
    name = "ffmpeg"
    matrix = "601"

    def __init__(self, quality):
        self.quality = quality

    def command(self, display, size):
        return ["ffmpeg", "-nostdin", "-loglevel", "error", "-nostats", "-f", "x11grab", "-draw_mouse", "1",
                "-framerate", "30", "-video_size", "%dx%d" % size, "-i", display.name, "-c:v", "libx264",
                "-preset", "ultrafast", "-tune", "zerolatency", "-profile:v", "baseline", "-pix_fmt", "yuv420p",
                *self.quality, "-threads", "1", "-g", "9999", "-flush_packets", "1", "-f", "h264", "-y", self.path]


class GStreamer(Recorder):
    def __init__(self, uses_damage, is_constant_qp):
        self.name = "gstreamer-damage" if uses_damage else "gstreamer"
        self.source = ["ximagesrc", "use-damage=" + ("true" if uses_damage else "false"), "!",
                       "video/x-raw,framerate=30/1"]
        self.is_constant_qp = is_constant_qp

    def command(self, display, size):
        return ["gst-launch-1.0", "-q", "-e", *self.source, "!", "videoconvert", "!", "video/x-raw,format=I420", "!",
                "x264enc", "speed-preset=ultrafast", "tune=zerolatency",
                "pass=" + ("quant" if self.is_constant_qp else "qual"), "quantizer=23", "bitrate=200000",
                "vbv-buf-capacity=2000", "key-int-max=9999", "threads=1", "!",
                "video/x-h264,profile=baseline,stream-format=byte-stream", "!", "filesink", "buffer-mode=unbuffered",
                "location=" + self.path]


class Pixelflux(Recorder):
    name = "pixelflux"
    comes_to_rest = True
    stop_signal = signal.SIGTERM

    def __init__(self, python, crf, refines):
        self.python, self.crf, self.refines = python, crf, refines

    def command(self, display, size):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pixelflux_client.py")
        return [self.python, script, str(size[0]), str(size[1]), str(self.crf),
                "1" if self.refines else "0", self.path]


def pixelflux_python(folder):
    """A Python that has pixelflux, in a virtual environment under `folder`; None, and why, where there is none."""
    python = os.path.join(folder, "pixelflux", "bin", "python")
    if os.path.exists(python) and _imports_pixelflux(python):
        return python, None
    try:
        subprocess.run(["/usr/bin/python3", "-m", "venv", os.path.dirname(os.path.dirname(python))], check=True,
                       capture_output=True, timeout=120)
        subprocess.run([python, "-m", "pip", "install", "-q", "pixelflux==2.2.1"], check=True, capture_output=True,
                       timeout=300)
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode(errors="replace").strip().splitlines()
        return None, "pip could not install it: %s" % (words[-1] if words else "no reason given")
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, "pip could not install it: %s" % error
    return (python, None) if _imports_pixelflux(python) else (None, "it is installed, but does not start")


def _imports_pixelflux(python):
    return subprocess.run([python, "-c", "import pixelflux"], capture_output=True, timeout=60).returncode == 0


def require_tools(peers, needs_words):
    """Ends with a Missing that names the package where a program isn't installed."""
    wanted = {"Xvfb": "xvfb", "ffmpeg": "ffmpeg"}
    if any(peer.startswith("gstreamer") for peer in peers):
        wanted["gst-launch-1.0"] = "gstreamer1.0-tools"
    if needs_words:
        wanted["tesseract"] = "tesseract-ocr"
    for program, package in wanted.items():
        if not any(os.access(os.path.join(folder, program), os.X_OK) for folder in os.environ["PATH"].split(":")):
            raise Missing("%s (Debian: %s) is missing; Tools/setup --bench installs it" % (program, package))
