"""Receives what `sending` sends, with a webrtcbin of its own, so that it sends at all; for Debian's own Python.

    receiving LINK
"""

import sys
import urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstWebRTC  # noqa: E402

from latency_bench.webrtcbin import Peer  # noqa: E402


class Receiver(Peer):
    def __init__(self, link):
        self.address = link.split("#", 1)[0]
        pipeline, peer = Gst.Pipeline(), Gst.ElementFactory.make("webrtcbin")
        peer.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        pipeline.add(peer)
        super().__init__(pipeline, peer)
        peer.connect("pad-added", self.added)

    def begin(self):
        with urllib.request.urlopen(self.address + "offer", timeout=10) as answer:
            offer = answer.read().decode()
        self.set_remote_description(
            GstWebRTC.WebRTCSDPType.OFFER, offer, Gst.Promise.new_with_change_func(self.offered, None))

    def offered(self, promise, _):
        promise.wait()
        self.peer.emit("create-answer", None, Gst.Promise.new_with_change_func(self.answered, None))

    def answered(self, promise, _):
        promise.wait()
        reply = promise.get_reply()
        self.peer.emit("set-local-description", reply.get_value("answer"), Gst.Promise.new())

    def gathered(self, *_):
        if text := self.local_description():
            urllib.request.urlopen(self.address, text.encode(), timeout=10).close()

    def added(self, _, pad):
        if pad.direction == Gst.PadDirection.SRC:
            sink = Gst.ElementFactory.make("fakesink")
            sink.set_property("async", False)
            self.pipeline.add(sink)
            sink.sync_state_with_parent()
            pad.link(sink.get_static_pad("sink"))


if __name__ == "__main__":
    Gst.init(None)
    sys.exit(Receiver(sys.argv[1]).run())
