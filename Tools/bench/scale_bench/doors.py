"""How receivers get in: by WHEP at a host, and as subscribers in a room of Janus' VideoRoom."""

import http.client
import json
import time
import urllib.parse

from .receiver import CONGESTION, Refused

FEEDBACK = ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]
FORMATS = [(102, "42e01f"), (104, "4d001f"), (106, "64001f")]


def offer(receiver):
    """An offer to receive H.264, with what Chromium would say of it."""
    numbers = " ".join("%d %d" % (number, number + 1) for number, _ in FORMATS)
    lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
             "m=video 9 UDP/TLS/RTP/SAVPF " + numbers, "c=IN IP4 0.0.0.0", "a=mid:0", "a=recvonly", "a=rtcp-mux",
             "a=rtcp-rsize", *receiver.lines()]
    has_numbers = receiver.habits.offers_numbers
    lines += ["a=extmap:4 " + CONGESTION] if has_numbers else []
    feedback = [one for one in FEEDBACK if has_numbers or one not in ("goog-remb", "transport-cc")]
    for number, profile in FORMATS:
        lines += ["a=rtpmap:%d H264/90000" % number, *("a=rtcp-fb:%d %s" % (number, one) for one in feedback),
                  "a=fmtp:%d level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=%s" % (number, profile),
                  "a=rtpmap:%d rtx/90000" % (number + 1), "a=fmtp:%d apt=%d" % (number + 1, number)]
    return "\r\n".join(lines) + "\r\n"


def answer(sdp, receiver):
    """An answer to an offer of one video: its first payload type, that one's parameters and the congestion feedback."""
    lines = [line.strip() for line in sdp.splitlines()]
    media = next(line for line in lines if line.startswith("m=video")).split()
    mid = next(line for line in lines if line.startswith("a=mid:"))
    number = media[3]
    kept = [line for line in lines if line.startswith(("a=rtpmap:%s " % number, "a=fmtp:%s " % number,
                                                       "a=rtcp-fb:%s " % number))
            or line.startswith("a=extmap:") and line.endswith(CONGESTION)]
    return "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE " + mid[len("a=mid:"):],
                        "m=video 9 UDP/TLS/RTP/SAVPF " + number, "c=IN IP4 0.0.0.0", mid, "a=recvonly", "a=rtcp-mux",
                        *kept, *receiver.lines()]) + "\r\n"


class WHEPDoor:
    """A room of a host, by its link."""

    def __init__(self, link):
        origin, fragment = link.split("/#")
        room, _, token = fragment.partition(",")
        self.place, self.path = urllib.parse.urlsplit(origin).netloc, "/whep/" + room
        self.headers = {"Authorization": "Bearer " + token} if token else {}

    def admit(self, receiver):
        connection = http.client.HTTPConnection(self.place, timeout=10)
        try:
            connection.request("POST", self.path, offer(receiver),
                               {"Content-Type": "application/sdp", **self.headers})
            reply = connection.getresponse()
            text = reply.read().decode()
            if reply.status != 201:
                raise Refused("the host answers with %d: %s" % (reply.status, text))
        finally:
            connection.close()
        receiver.connect(text, checks=True)

    def keep(self):
        pass


class JanusDoor:
    """A room with one publisher."""

    PLUGIN = "janus.plugin.videoroom"
    #: Seconds between signs of life; the server forgets a session after a minute.
    LIFE = 20

    def __init__(self, url, room, pin, token):
        from websockets.sync.client import connect

        self.socket, self.count, self.common = connect(url, subprotocols=["janus-protocol"]), 0, {"token": token}
        self.room, self.pin = int(room), pin
        self.common["session_id"] = self._ask("create")["data"]["id"]
        self.alive = time.monotonic()
        self.feed = None

    def admit(self, receiver):
        handle, sdp = self.subscribe()
        self.start(handle, answer(sdp, receiver), False)
        receiver.connect(sdp, checks=False)

    def attach(self):
        """Gives a new handle of the plugin."""
        return self._ask("attach", plugin=self.PLUGIN)["data"]["id"]

    def request(self, handle, name, **body):
        """What the plugin answers at once to a request about the room."""
        data = self._ask("message", handle_id=handle, body={"request": name, "room": self.room, **body})
        found = data["plugindata"]["data"]
        if "error" in found:
            raise Refused("Janus answers: %s" % found["error"])
        return found

    def publisher(self, handle):
        """The number of the room's publisher; None if there is none."""
        people = self.request(handle, "listparticipants")["participants"]
        return next((one["id"] for one in people if one.get("publisher")), None)

    def subscribe(self):
        """Gives a new handle, and what the room offers to it."""
        handle = self.attach()
        if self.feed is None:
            self.feed = self.publisher(handle)
        joined = self._ask("message", handle_id=handle, body={
            "request": "join", "ptype": "subscriber", "room": self.room, "pin": self.pin,
            "streams": [{"feed": self.feed}]})
        if "jsep" not in joined:
            raise Refused("Janus offers nothing: %s" % joined)
        return handle, joined["jsep"]["sdp"]

    def start(self, handle, sdp, trickles):
        """Answers the offer; with `trickles`, the answer doesn't have all candidates."""
        self._ask("message", handle_id=handle, body={"request": "start"},
                  jsep={"type": "answer", "sdp": sdp, "trickle": trickles})

    def keep(self):
        """Shows a sign of life where one is due."""
        if time.monotonic() - self.alive > self.LIFE:
            self.alive = time.monotonic()
            self._ask("keepalive", final="ack")

    def _ask(self, kind, final=None, **words):
        self.count += 1
        transaction = str(self.count)
        self.socket.send(json.dumps({"janus": kind, "transaction": transaction, **self.common, **words}))
        while True:
            reply = json.loads(self.socket.recv(timeout=10))
            is_early = reply["janus"] == "ack" and final != "ack"
            if reply.get("transaction") != transaction or is_early:
                continue
            if reply["janus"] == "error":
                raise Refused("Janus answers: %s" % reply["error"])
            return reply


DOORS = {"whep": WHEPDoor, "janus": JanusDoor}
