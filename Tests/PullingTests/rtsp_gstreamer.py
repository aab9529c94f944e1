"""Serves a moving picture (H.264) and a tone (PCMU) by RTSP with GStreamer's server; for Debian's own Python.

    rtsp_gstreamer.py PORT      serves rtsp://127.0.0.1:PORT/live, and /parts with a key frame's headers before each of
                                its two slices, and /udp, the same by UDP only; says `ready`, and runs until it
                                is ended
    rtsp_gstreamer.py --check   ends with 0 where all of GStreamer that this needs is there
"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

ELEMENTS = ["videotestsrc", "x264enc", "rtph264pay", "audiotestsrc", "mulawenc", "rtppcmupay"]
PIPELINE = (
    "( videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=25/1 "
    "! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! video/x-h264,profile=constrained-baseline "
    "! rtph264pay name=pay0 pt=96 "
    "audiotestsrc is-live=true ! audio/x-raw,rate=8000,channels=1 ! mulawenc ! rtppcmupay name=pay1 pt=0 )"
)
PARTS = (
    "( videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=25/1 "
    "! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 sliced-threads=true threads=2 "
    "! video/x-h264,profile=constrained-baseline ! rtph264pay config-interval=-1 name=pay0 pt=96 )"
)

Gst.init(None)
if sys.argv[1:] == ["--check"]:
    sys.exit(0 if all(Gst.ElementFactory.find(name) for name in ELEMENTS) else 69)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
for path, pipeline in [("/live", PIPELINE), ("/parts", PARTS), ("/udp", PARTS)]:
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(pipeline)
    factory.set_shared(True)
    if path == "/udp":
        factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
    server.get_mount_points().add_factory(path, factory)
if not server.attach(None):
    sys.exit("port %s is in use" % sys.argv[1])
print("ready", flush=True)
GLib.MainLoop().run()
