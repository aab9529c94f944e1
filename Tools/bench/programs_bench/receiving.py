"""Receives what `sending` sends, with a webrtcbin of its own, so that it sends at all; for Debian's own Python.

    receiving LINK
"""

import sys
import urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402


class Receiver:
    def __init__(self, link):
        self.address = link.split("#", 1)[0]
        self.loop, self.failure = GLib.MainLoop(), None
        self.pipeline, self.peer = Gst.Pipeline(), Gst.ElementFactory.make("webrtcbin")
        self.peer.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.pipeline.add(self.peer)
        # As for the sender.
        self.agent = self.peer.get_property("ice-agent")
        self.agent.emit("add-local-ip-address", "127.0.0.1")
        self.peer.connect("pad-added", self.added)
        self.peer.connect("notify::ice-gathering-state", self.gathered)
        self.bus = self.pipeline.get_bus()
        self.bus.add_signal_watch()
        self.bus.connect("message::error", self.failed)

    def run(self):
        """Receives until this process is ended; gives the error that ended it before."""
        self.pipeline.set_state(Gst.State.PLAYING)
        with urllib.request.urlopen(self.address + "offer", timeout=10) as answer:
            _, message = GstSdp.SDPMessage.new_from_text(answer.read().decode())
        offer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.OFFER, message)
        self.peer.emit("set-remote-description", offer, Gst.Promise.new_with_change_func(self.offered, None))
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        return self.failure

    def offered(self, promise, _):
        promise.wait()
        self.peer.emit("create-answer", None, Gst.Promise.new_with_change_func(self.answered, None))

    def answered(self, promise, _):
        promise.wait()
        reply = promise.get_reply()
        self.peer.emit("set-local-description", reply.get_value("answer"), Gst.Promise.new())

    def gathered(self, *_):
        if self.peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            text = self.peer.get_property("local-description").sdp.as_text()
            urllib.request.urlopen(self.address, text.encode(), timeout=10).close()

    def added(self, _, pad):
        if pad.direction == Gst.PadDirection.SRC:
            sink = Gst.ElementFactory.make("fakesink")
            sink.set_property("async", False)
            self.pipeline.add(sink)
            sink.sync_state_with_parent()
            pad.link(sink.get_static_pad("sink"))

    def failed(self, _, message):
        error, details = message.parse_error()
        self.failure = "%s (%s)" % (error.message, details)
        self.loop.quit()


if __name__ == "__main__":
    Gst.init(None)
    sys.exit(Receiver(sys.argv[1]).run())
