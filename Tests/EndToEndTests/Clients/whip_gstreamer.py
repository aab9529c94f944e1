"""Publishes a moving picture by WHIP (RFC 9725) with GStreamer's webrtcbin, which whipsink is made of; for Debian's own Python.

    whip_gstreamer.py ENDPOINT TOKEN [--tone HERTZ]
    whip_gstreamer.py --check           ends with 0 where all of GStreamer that this needs is there

Says, one JSON object a line: the offer (`offered`), the answer to it (`answered`), the connection's states, and how it left (`left`). A line
`leave` on its standard input ends the session by DELETE.
"""

import argparse
import json
import sys
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import urljoin

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

WIDTH, HEIGHT, RATE = 320, 240, 25
ELEMENTS = ["audiotestsrc", "opusenc", "rtpopuspay", "appsrc", "videoconvert", "x264enc", "rtph264pay", "webrtcbin", "nicesink", "dtlsenc", "srtpenc"]
PIPELINE = (
    f"appsrc name=pictures is-live=true format=time caps=video/x-raw,format=I420,width={WIDTH},height={HEIGHT},"
    f"framerate={RATE}/1 ! videoconvert ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=250 bitrate=600 "
    "! video/x-h264,profile=constrained-baseline ! rtph264pay config-interval=-1 aggregate-mode=zero-latency "
    "! application/x-rtp,media=video,encoding-name=H264,payload=96 ! webrtcbin name=peer bundle-policy=max-bundle"
)
TONE = (
    " audiotestsrc is-live=true freq={} volume=0.5 ! audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay "
    "! application/x-rtp,media=audio,encoding-name=OPUS,payload=97 ! peer."
)
# Y, U, V of red, green, blue and white.
BARS = [(81, 90, 240), (145, 54, 34), (41, 240, 110), (235, 128, 128)]


def say(event, **facts):
    # One call: print writes the line and its end apart, and threads would mix theirs.
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def draw(count):
    """Four bars, and a field whose brightness goes through 16 steps."""
    colours = BARS + [(16 + (count // 5) % 16 * 14, 128, 128)]
    planes = bytearray()
    for part, (columns, rows) in enumerate([(WIDTH, HEIGHT), (WIDTH // 2, HEIGHT // 2), (WIDTH // 2, HEIGHT // 2)]):
        row = b"".join(bytes([colour[part]]) * (columns // len(colours)) for colour in colours)
        planes += row * rows
    return bytes(planes)


class Publisher:
    def __init__(self, endpoint, token, tone):
        self.endpoint = endpoint
        self.headers = {"Authorization": f"Bearer {token}"}
        self.location = None
        self.loop = GLib.MainLoop()
        self.pipeline = Gst.parse_launch(PIPELINE + (TONE.format(tone) if tone else ""))
        self.sections = 2 if tone else 1
        self.peer = self.pipeline.get_by_name("peer")
        self.pictures = self.pipeline.get_by_name("pictures")
        if "127.0.0.1" in endpoint:
            # Loopback is left out where nobody names it. The agent is held: GStreamer 1.22 gives it away without a reference.
            self.agent = self.peer.get_property("ice-agent")
            self.agent.emit("add-local-ip-address", "127.0.0.1")
        self.peer.connect("on-negotiation-needed", self.negotiate)
        self.peer.connect("notify::ice-gathering-state", self.gathered)
        self.peer.connect("notify::connection-state", self.changed)

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        for index in range(self.sections):
            transceiver = self.peer.emit("get-transceiver", index)
            transceiver.set_property("direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)
        threading.Thread(target=self.push, daemon=True).start()
        threading.Thread(target=self.listen, daemon=True).start()
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)

    def push(self):
        start = time.monotonic()
        count = 0
        while True:
            time.sleep(max(0, start + count / RATE - time.monotonic()))
            buffer = Gst.Buffer.new_wrapped(draw(count))
            buffer.pts = count * Gst.SECOND // RATE
            buffer.duration = Gst.SECOND // RATE
            self.pictures.emit("push-buffer", buffer)
            count += 1

    def listen(self):
        for line in sys.stdin:
            if line.strip() == "leave":
                say("left", status=self.request(self.location, "DELETE").status)
                GLib.idle_add(self.loop.quit)

    def negotiate(self, _):
        self.peer.emit("create-offer", None, Gst.Promise.new_with_change_func(self.offered, None))

    def offered(self, promise, _):
        promise.wait()
        # The offer lives in the reply, which has to be held.
        reply = promise.get_reply()
        offer = reply.get_value("offer")
        self.peer.emit("set-local-description", offer, Gst.Promise.new())

    def gathered(self, *_):
        if self.peer.get_property("ice-gathering-state") != GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            return
        offer = self.peer.get_property("local-description").sdp.as_text()
        say("offered", sdp=offer)
        threading.Thread(target=self.post, args=[offer], daemon=True).start()

    def post(self, offer):
        answer = self.request(self.endpoint, "POST", offer.encode(), {"Content-Type": "application/sdp"})
        text = answer.read().decode()
        say("answered", status=answer.status, text=text)
        if answer.status != 201:
            return GLib.idle_add(self.loop.quit)
        self.location = urljoin(self.endpoint, answer.headers["Location"])
        _, message = GstSdp.SDPMessage.new_from_text(text)
        description = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        self.peer.emit("set-remote-description", description, Gst.Promise.new())

    def changed(self, *_):
        say(self.peer.get_property("connection-state").value_nick)

    def request(self, url, method, body=None, headers={}):
        wanted = urllib.request.Request(url, body, {**self.headers, **headers}, method=method)
        try:
            return urllib.request.urlopen(wanted)
        except urllib.error.HTTPError as refusal:
            return refusal


Gst.init(None)
if sys.argv[1:] == ["--check"]:
    sys.exit(0 if all(Gst.ElementFactory.find(name) for name in ELEMENTS) else 69)
parser = argparse.ArgumentParser()
parser.add_argument("endpoint")
parser.add_argument("token")
parser.add_argument("--tone", type=int)
options = parser.parse_args()
Publisher(options.endpoint, options.token, options.tone).run()
