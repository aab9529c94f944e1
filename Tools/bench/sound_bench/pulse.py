"""A PulseAudio server of our own, what plays on its only sink, and what listens to that."""

import bisect
import fcntl
import os
import select
import subprocess
import threading
import time

import numpy

from bench_kit.processes import Process, require_programs, wait_until

RATE = 48_000
#: Bytes of one moment: two channels of 32-bit floats.
FRAME = 8
FORMAT = ["--raw", "--format=float32le", "--rate=%d" % RATE, "--channels=2"]
SINK = "out"
#: A beep begins with the first sample of this size after so many samples without one. tap.js has the same numbers.
LOUD, QUIET = 0.1, RATE // 5
TOOLS = {"pulseaudio": "pulseaudio", "pactl": "pulseaudio-utils", "pacat": "pulseaudio-utils",
         "parec": "pulseaudio-utils"}


def require_pulse():
    require_programs(TOOLS)


class PulseServer:
    """A server with one sink, which plays to nobody by this machine's clock, or to a `Speaker` by its clock."""

    def __init__(self, folder, has_speaker=False, suspends=True):
        path = os.path.join(folder, "pulse.sock")
        own = {"HOME": folder, "XDG_RUNTIME_DIR": folder, "PULSE_RUNTIME_PATH": os.path.join(folder, "pulse"),
               "PULSE_STATE_PATH": os.path.join(folder, "pulse-state")}
        #: What clients need.
        self.environment = dict(own, PULSE_SERVER="unix:" + path)
        modules = ["module-native-protocol-unix auth-anonymous=1 socket=" + path,
                   "module-pipe-sink sink_name=%s rate=%d format=float32le channels=2 file=%s" % (
                       SINK, RATE, speaker_path(folder))
                   if has_speaker else "module-null-sink sink_name=%s rate=%d" % (SINK, RATE)]
        if suspends:
            # As servers have it that nobody has configured.
            modules.append("module-suspend-on-idle")
        self.process = Process(
            "pulseaudio",
            ["pulseaudio", "--exit-idle-time=-1", "--daemonize=no", "-n", "--use-pid-file=no", "--realtime=no"]
            + [word for module in modules for word in ("-L", module)],
            os.path.join(folder, "pulse.log"), own)
        try:
            wait_until(self._answers, 15, "an answer by PulseAudio")
        except BaseException:
            self.close()
            raise

    def _answers(self):
        self.process.require_running()
        return subprocess.run(["pactl", "info"], env=dict(os.environ, **self.environment), capture_output=True,
                              timeout=10).returncode == 0

    def close(self):
        self.process.stop()


class Player:
    """Plays one second of samples over and over, on both channels."""

    def __init__(self, second, latency, folder, environment=None):
        """`latency`: the milliseconds that PulseAudio keeps ready. Few are soon heard, many never run out."""
        samples = numpy.repeat(numpy.asarray(second, numpy.float32), 2).tobytes()
        reader, writer = os.pipe()
        try:
            self.process = Process("pacat", ["pacat", "--playback", "--latency-msec=%d" % latency, *FORMAT],
                                   os.path.join(folder, "pacat.log"), environment, stdin=reader)
        except BaseException:
            os.close(writer)
            raise
        finally:
            os.close(reader)
        self._thread = threading.Thread(target=self._write, args=(writer, samples), daemon=True)
        self._thread.start()

    @staticmethod
    def _write(writer, samples):
        try:
            while True:
                rest = memoryview(samples)
                while rest:
                    rest = rest[os.write(writer, rest):]
        except OSError:
            pass  # pacat has ended
        finally:
            os.close(writer)

    def close(self):
        self.process.stop()
        self._thread.join()


def speaker_path(folder):
    return os.path.join(folder, "speaker")


def recorder(latency, folder, environment=None, stdout=None):
    """parec, which writes what the sink plays."""
    return Process("parec", ["parec", "--device=%s.monitor" % SINK, "--latency-msec=%d" % latency, *FORMAT],
                   os.path.join(folder, "parec.log"), environment, stdout=stdout)


class Ear:
    """Listens to the sink, and tells when each beep is heard there.

    The sink plays by CLOCK_MONOTONIC, in blocks: when the last sample of one has been heard, the next block is mixed
    and goes to its listeners at once, so it comes when its first sample is heard. Of all blocks within a second, the
    one that came with the least delay tells when each sample is heard. That is late by its delay, and by up to the
    2.5 ms of sound that parec asks for at once.
    """

    def __init__(self, folder, environment=None):
        self.process = recorder(5, folder, environment, stdout=subprocess.PIPE)
        self._prepare()

    def _prepare(self):
        self.onsets = []  # samples
        self._starts, self._arrivals = [], []  # of each block: its first sample, and when it came
        self._count, self._last_loud = 0, -QUIET
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def heard(self, sample):
        """When a sample that has come is heard, in seconds of CLOCK_MONOTONIC."""
        first, last = (bisect.bisect_left(self._starts, sample + offset) for offset in (-RATE, RATE))
        return sample / RATE + min(arrival - start / RATE for start, arrival in zip(
            self._starts[first:last], self._arrivals[first:last]))

    def close(self):
        self.process.stop()
        self._thread.join()

    def _listen(self):
        rest = b""
        while True:
            try:
                data = os.read(self.process.child.stdout.fileno(), 1 << 16)
            except (OSError, ValueError):
                return
            now = time.monotonic()
            if not data:
                return
            data = rest + data
            whole = len(data) // FRAME * FRAME
            rest = data[whole:]
            if whole:
                self._take(numpy.frombuffer(data[:whole], numpy.float32)[::2], now)

    def _take(self, samples, now):
        # In this order: another thread looks for a start first.
        self._arrivals.append(now)
        self._starts.append(self._count)
        loud = numpy.flatnonzero(numpy.abs(samples) >= LOUD)
        if loud.size:
            onset = self._count + int(loud[0])
            if onset - self._last_loud >= QUIET:
                self.onsets.append(onset)
            self._last_loud = self._count + int(loud[-1])
        self._count += samples.size


class Speaker(Ear):
    """What a sink plays to, by a clock of its own that runs so many millionths faster than this machine's; it hears
    what it plays."""

    #: Samples that it takes at a time, and the bytes that the sink may have ready: the least that a pipe can hold.
    PIECE, ROOM = RATE // 100, 4096

    def __init__(self, folder, faster):
        self._pipe = os.open(speaker_path(folder), os.O_RDWR)
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, self.ROOM)
        self._step = self.PIECE / RATE / (1 + faster / 1e6)
        self._is_closed = False
        self.process = self
        self._prepare()

    def require_running(self):
        """Nothing can end it."""

    def close(self):
        self._is_closed = True
        self._thread.join()
        os.close(self._pipe)

    def _listen(self):
        due, size = time.monotonic(), self.PIECE * FRAME
        while not self._is_closed:
            due += self._step
            time.sleep(max(0.0, due - time.monotonic()))
            data = b""
            while len(data) < size and not self._is_closed:
                if select.select([self._pipe], [], [], 0.1)[0]:
                    data += os.read(self._pipe, size - len(data))
            # A sink that had nothing ready has made it stand still.
            due = max(due, time.monotonic() - self._step)
            if len(data) == size:
                self._take(numpy.frombuffer(data, numpy.float32)[::2], due)
