"""Sends an X display with webrtcbin, as `latency_bench.webrtcbin` does, and keeps what its encoder gives; for Debian's
own Python.

    sending DISPLAY BITRATE FOLDER    prints the page's link

FOLDER/stream.264 has the frames, and FOLDER/frames a line for each of them: when it was grabbed and when it was
encoded, both CLOCK_MONOTONIC in ns, and its length. Losses of a network aren't in it.
"""

import os
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

from latency_bench.webrtcbin import Sender  # noqa: E402


class Recorder:
    def __init__(self, sender, folder):
        self.pipeline, self.encoder = sender.pipeline, sender.pipeline.get_by_name("encoder")
        self.stream = open(os.path.join(folder, "stream.264"), "wb", buffering=0)
        self.frames = open(os.path.join(folder, "frames"), "w", buffering=1)
        self.encoder.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.record)

    def record(self, pad, info):
        encoded, buffer = time.clock_gettime_ns(time.CLOCK_MONOTONIC), info.get_buffer()
        # The encoder shifts its time stamps, and says so in its segment.
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        grabbed = segment.to_running_time(Gst.Format.TIME, buffer.pts) + self.pipeline.get_base_time()
        self.stream.write(buffer.extract_dup(0, buffer.get_size()))
        self.frames.write("%d %d %d\n" % (grabbed, encoded, buffer.get_size()))
        return Gst.PadProbeReturn.OK


def main():
    Gst.init(None)
    sender = Sender(*sys.argv[1:3])
    recorder = Recorder(sender, sys.argv[3])
    failure = sender.run()
    del recorder
    return failure


if __name__ == "__main__":
    sys.exit(main())
