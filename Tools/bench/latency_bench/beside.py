"""What a share is measured beside: GStreamer's webrtcbin, which sends the same scene."""

import os
import subprocess
import sys

from bench_kit.processes import Missing, Process, printed_link
from bench_kit.room import Room

COMMAND = [sys.executable, "-m", "latency_bench.webrtcbin"]


class WebRTCBinRoom(Room):
    """A scene that is shown, and webrtcbin, which sends it to a page of its own: a host without captures."""

    def start_share(self, bench, network, bit_rate):
        self.share = Process("webrtcbin", COMMAND + [self.display.name, str(bit_rate)],
                             os.path.join(self.folder, "share.log"), stdout=subprocess.PIPE)
        self.printed_link = printed_link(self.share)


def require_webrtcbin():
    """Ends with a Missing where a part of GStreamer isn't installed."""
    try:
        works = subprocess.run(COMMAND + ["--check"], capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        works = False
    if not works:
        raise Missing("GStreamer's webrtcbin, or something that it needs, is missing; Tools/setup --bench installs it")
