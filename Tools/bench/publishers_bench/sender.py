"""FFmpeg, which encodes pictures with their numbers on them, and publishes them."""

import os
import subprocess
import threading
import time

import numpy

from bench_kit.processes import Failure, Process

from . import counter

SIZE, RATE = (640, 360), 30
#: H.264 of 2 Mbit/s; with B-frames, pictures wait for later ones.
COMMON = ["-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", "-b:v", "2M", "-maxrate", "2M", "-bufsize",
          "400k", "-g", str(RATE), "-sc_threshold", "0"]
ENCODERS = {False: ["-tune", "zerolatency"], True: ["-bf", "2", "-b_strategy", "0", "-rc-lookahead", "0"]}


def pictures(size, count):
    """The bytes of so many pictures with their numbers, as yuv420p."""
    width, height = size
    # Noise that moves, so that each picture takes its share of the rate.
    noise = numpy.random.default_rng(1).integers(96, 160, (height, 2 * width), numpy.uint8)
    colours = bytes([128]) * (width * height // 2)
    for number in range(count):
        luma = numpy.ascontiguousarray(noise[:, 2 * number % width:][:, :width])
        counter.paint(luma, number)
        yield luma.tobytes() + colours


def raw(size, rate):
    """FFmpeg's words for these pictures on its standard input."""
    return ["-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", "%dx%d" % size, "-framerate", str(rate), "-i",
            "pipe:0"]


class Sender:
    """Sends 30 pictures per second from its construction on; `output` are FFmpeg's words for where."""

    def __init__(self, output, has_b_frames, count, folder, stdout=None):
        #: When each picture was there, in seconds of CLOCK_MONOTONIC, by its number.
        self.sent = []
        command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-probesize", "32", "-analyzeduration", "0",
                   *raw(SIZE, RATE), *COMMON, *ENCODERS[has_b_frames], "-flush_packets", "1", *output]
        self.process = Process("ffmpeg", command, os.path.join(folder, "ffmpeg.log"), stdin=subprocess.PIPE,
                               stdout=stdout)
        self._ends = False
        self._feeder = threading.Thread(target=self._feed, args=[count], daemon=True)
        self._feeder.start()

    def _feed(self, count):
        begin = time.monotonic()
        try:
            for number, picture in enumerate(pictures(SIZE, count)):
                time.sleep(max(0.0, begin + number / RATE - time.monotonic()))
                if self._ends:
                    return
                self.sent.append(time.monotonic())
                rest = memoryview(picture)
                while rest:
                    rest = rest[os.write(self.process.child.stdin.fileno(), rest):]
        except OSError:
            pass  # FFmpeg has ended; `require_running` says why.

    def wait_for(self, number):
        """Waits until it has sent so many pictures."""
        deadline = time.monotonic() + number / RATE + 20
        while len(self.sent) < number:
            self.process.require_running()
            if time.monotonic() > deadline:
                raise Failure("ffmpeg takes too few pictures: %d of %d" % (len(self.sent), number))
            time.sleep(0.05)

    def close(self):
        # A pipe that nobody reads any more would hold the feeder.
        self._ends = True
        if self.process.is_running():
            self.process.child.kill()
        self._feeder.join(5)
        self.process.stop()
