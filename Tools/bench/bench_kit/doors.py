"""How viewers get into a room of Janus' VideoRoom, without a library of WebRTC: its offer, and their answer."""

import json
import time

CONGESTION = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"


class Refused(Exception):
    """Why a viewer can't be connected."""


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
