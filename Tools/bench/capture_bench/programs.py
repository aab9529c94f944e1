"""The programs that ours is compared with."""

import os
import signal
import subprocess

from bench_kit.processes import require_programs
from bench_kit.recorders import Recorder


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


def require_tools(peers):
    """Ends with a Missing that names the package where a program isn't installed."""
    wanted = {"Xvfb": "xvfb", "ffmpeg": "ffmpeg"}
    if any(peer.startswith("gstreamer") for peer in peers):
        wanted["gst-launch-1.0"] = "gstreamer1.0-tools"
    require_programs(wanted)
