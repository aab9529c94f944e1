"""Sends an X display to a page of its own with GStreamer's webrtcbin; for Debian's own Python.

    webrtcbin DISPLAY BITRATE    the bit rate in bits a second; prints the page's link, and serves one viewer
    webrtcbin --check            exits with 0 where all of GStreamer that this needs is there

The settings are those with the least delay. A share asks the browser by the RTP header extension `playout-delay` to
show pictures when they arrive; GStreamer 1.22 has none, so it is added here, as remote desktops over webrtcbin do.
"""

import http.server
import json
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtp", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstRtp, GstSdp, GstWebRTC  # noqa: E402

ELEMENTS = ["ximagesrc", "queue", "videoconvert", "x264enc", "rtph264pay", "webrtcbin", "nicesink", "dtlsenc",
            "srtpenc"]
PIPELINE = " ! ".join([
    # A share sends at most 30 pictures a second too, and leaves the pointer to the page. With damage, the changed areas
    # are asked for one by one; without, each picture is one request, through shared memory.
    "ximagesrc display-name={display} use-damage=false show-pointer=false",
    "video/x-raw,framerate=30/1",
    # Grabbing goes on while the encoder works. A picture that waits for it is replaced by the next one: none is older
    # than a period, neither when the encoder is slow nor when the connection begins.
    "queue leaky=downstream max-size-buffers=1 max-size-bytes=0 max-size-time=0",
    "videoconvert",
    # No lookahead, no B-frames, and slices instead of whole pictures for each thread: what goes in comes out at once.
    # Key frames only when the browser asks for one: they take longer than the others.
    "x264enc name=encoder tune=zerolatency speed-preset=ultrafast bitrate={kilobits} key-int-max=9999",
    "video/x-h264,profile=constrained-baseline,stream-format=byte-stream",
    # A packet leaves when its NAL unit is there. No queue follows: after the encoder, nothing waits.
    "rtph264pay name=payloader config-interval=-1 aggregate-mode=zero-latency",
    "application/x-rtp,media=video,encoding-name=H264,payload=96",
    "webrtcbin name=peer bundle-policy=max-bundle"])
#: More than any browser's answer has.
LARGEST_ANSWER = 65536
#: Asks for no jitter buffer, as the room's page does (peer.js).
PAGE = """<!doctype html>
<meta charset="utf-8">
<title>webrtcbin</title>
<style>
  body { margin: 0; overflow: hidden; background: black }
  video { display: block; width: 100vw; height: 100vh }
</style>
<video id="video" autoplay muted></video>
<script type="module">
  const connection = new RTCPeerConnection();
  connection.ontrack = ({ track, receiver }) => {
    receiver.jitterBufferTarget = 0;
    document.querySelector("#video").srcObject = new MediaStream([track]);
  };
  await connection.setRemoteDescription({ type: "offer", sdp: OFFER });
  await connection.setLocalDescription();
  await fetch("/", { method: "POST", body: connection.localDescription.sdp });
</script>
"""


class NoPlayoutDelay(GstRtp.RTPHeaderExtension):
    """`playout-delay` with a least and a largest delay of 0."""

    SIZE = 3

    def do_get_supported_flags(self):
        return GstRtp.RTPHeaderExtensionFlags.ONE_BYTE

    def do_get_max_size(self, _):
        return self.SIZE

    def do_write(self, *_):
        # Python is given a copy of what is there already, which is 0.
        return self.SIZE


class Peer:
    """A pipeline with the webrtcbin `peer`, on loopback, until it fails or this process ends."""

    def __init__(self, pipeline, peer):
        self.loop, self.failure, self.pipeline, self.peer = GLib.MainLoop(), None, pipeline, peer
        # Loopback is left out where nobody names it. The agent is held: GStreamer 1.22 gives it away without a
        # reference.
        self.agent = peer.get_property("ice-agent")
        self.agent.emit("add-local-ip-address", "127.0.0.1")
        peer.connect("notify::ice-gathering-state", self.gathered)
        # Messages are asked for only while somebody holds the bus.
        self.bus = pipeline.get_bus()
        self.bus.add_signal_watch()
        self.bus.connect("message::error", self.failed)

    def run(self):
        """Runs until this process is ended; gives the error that ended it before."""
        self.pipeline.set_state(Gst.State.PLAYING)
        self.begin()
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        return self.failure

    def local_description(self):
        """The text of the description; None before all candidates are known."""
        if self.peer.get_property("ice-gathering-state") != GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            return None
        return self.peer.get_property("local-description").sdp.as_text()

    def set_remote_description(self, kind, text, promise):
        _, message = GstSdp.SDPMessage.new_from_text(text)
        description = GstWebRTC.WebRTCSessionDescription.new(kind, message)
        self.peer.emit("set-remote-description", description, promise)

    def failed(self, _, message):
        error, details = message.parse_error()
        self.failure = "%s (%s)" % (error.message, details)
        self.loop.quit()


class Sender(Peer):
    def __init__(self, display, bit_rate):
        self.server = None
        pipeline = Gst.parse_launch(PIPELINE.format(display=display, kilobits=int(bit_rate) // 1000))
        extension = NoPlayoutDelay()
        extension.set_uri("http://www.webrtc.org/experiments/rtp-hdrext/playout-delay")
        extension.set_id(1)
        pipeline.get_by_name("payloader").emit("add-extension", extension)
        super().__init__(pipeline, pipeline.get_by_name("peer"))
        self.peer.connect("on-negotiation-needed", self.negotiate)

    def begin(self):
        transceiver = self.peer.emit("get-transceiver", 0)
        transceiver.set_property("direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)

    def negotiate(self, _):
        self.peer.emit("create-offer", None, Gst.Promise.new_with_change_func(self.offered, None))

    def offered(self, promise, _):
        promise.wait()
        # The offer lives in the reply, which has to be held.
        reply = promise.get_reply()
        self.peer.emit("set-local-description", reply.get_value("offer"), Gst.Promise.new())

    def gathered(self, *_):
        offer = self.local_description()
        if not offer or self.server:
            return
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(offer, self.answered))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        print("http://127.0.0.1:%d/#video" % self.server.server_port, flush=True)

    def answered(self, text):
        # The browser hides its addresses behind names; webrtcbin learns them from its first check.
        self.set_remote_description(GstWebRTC.WebRTCSDPType.ANSWER, text, Gst.Promise.new())


def handler(offer, answered):
    """What serves the page with this offer, and passes its answer on."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            # A receiver that is no browser gets the offer alone.
            self.reply(200, offer if self.path == "/offer" else PAGE.replace("OFFER", json.dumps(offer)))

        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            if length > LARGEST_ANSWER:
                return self.reply(413, "")
            answered(self.rfile.read(length).decode())
            self.reply(200, "")

        def reply(self, status, text):
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    return Handler


def main():
    Gst.init(None)
    if sys.argv[1:] == ["--check"]:
        return 0 if all(Gst.ElementFactory.find(name) for name in ELEMENTS) else 69
    return Sender(*sys.argv[1:]).run()


if __name__ == "__main__":
    sys.exit(main())
