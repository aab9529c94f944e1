"""What captures a scene: the share's capture, and beside it GStreamer's webrtcbin."""

import os
import subprocess
import sys

from bench_kit.link import Picture
from bench_kit.processes import Failure, Process, printed_link
from bench_kit.recorders import Ours, Recorder
from latency_bench.beside import require_webrtcbin


class Share(Ours):
    """The share's capture."""

    def pictures(self, _):
        """What the link has brought so far."""
        return list(self.receiver.pictures)


class WebRTCBin(Recorder):
    """The webrtcbin of `latency_bench`, and a receiver on this machine. Its frames are its encoder's, as the share's
    are its capture's; its processor time includes RTP and encryption."""

    name = "webrtcbin"
    #: What GStreamer gives pictures of more than 576 rows.
    matrix = "709"

    def __init__(self, bit_rate):
        self.bit_rate, self.process, self.receiver = bit_rate, None, None

    @staticmethod
    def require():
        require_webrtcbin()

    def start(self, display, size, folder):
        self.path, self.frames, self.encoder_log = (os.path.join(folder, name) for name in (
            "stream.264", "frames", "x264enc.log"))
        # At this level x264 tells each frame's quantizer.
        logs = {"GST_DEBUG": "x264enc:6", "GST_DEBUG_FILE": self.encoder_log, "GST_DEBUG_NO_COLOR": "1"}
        self.process = Process(
            self.name, [sys.executable, "-m", "programs_bench.sending", display.name, str(self.bit_rate), folder],
            os.path.join(folder, "program.log"), logs, stdout=subprocess.PIPE)
        self.receiver = Process(
            "the receiver", [sys.executable, "-m", "programs_bench.receiving", printed_link(self.process)],
            os.path.join(folder, "receiver.log"))

    def stop(self):
        for process in (self.process, self.receiver):
            if process:
                process.stop()

    def pictures(self, painted):
        """What was encoded so far. A frame in which nothing new was painted has no damage."""
        self.receiver.require_running()
        found, offset, before, painted = [], 0, 0, sorted(painted)
        with open(self.frames) as file:
            lines = [line.split() for line in file if line.endswith("\n")]
        quantizers = self._quantizers()
        if len(quantizers) < len(lines):
            raise Failure("x264enc's log has %d quantizers of %d frames" % (len(quantizers), len(lines)))
        for number, (grabbed, encoded, length) in enumerate(lines):
            grabbed, end = int(grabbed), offset + int(length)
            has_changed = any(before < time <= grabbed for time in painted)
            found.append(Picture(number, (0, 0, has_changed, has_changed), quantizers[number], 0, pts=grabbed,
                                 arrival=int(encoded), offset=offset, end=end))
            offset, before = end, grabbed
        return found

    def _quantizers(self):
        """Of each frame, in order."""
        with open(self.encoder_log, errors="replace") as log:
            return [float(line.split(" QP=", 1)[1].split()[0]) for line in log if " frame=" in line and " QP=" in line]
