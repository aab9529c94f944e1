"""Receives a screen cast and does nothing with it; for Debian's own Python.

    receiver NODE    the stream's node, on the session's PipeWire

Prints a line for each picture: when it has arrived (CLOCK_MONOTONIC, ns), and how many nanoseconds that is after the
time that the compositor gives it. Runs until it is ended.
"""

import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


def main(node):
    Gst.init(None)
    pipeline = Gst.parse_launch("pipewiresrc name=source path=%s ! video/x-raw,format=BGRx ! "
                                "fakesink sync=false async=false" % node)
    # CLOCK_MONOTONIC, as that of the pictures' times.
    pipeline.use_clock(Gst.SystemClock.obtain())
    source = pipeline.get_by_name("source")

    def arrived(_, info):
        now = time.monotonic_ns()
        print(now, now - info.get_buffer().pts - source.get_base_time(), flush=True)
        return Gst.PadProbeReturn.OK

    source.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, arrived)
    pipeline.set_state(Gst.State.PLAYING)
    GLib.MainLoop().run()


main(*sys.argv[1:])
