"""Many receivers in one process: usage: receivers ADDRESS whep LINK, receivers ADDRESS
whep-reports LINK (receivers without transport-wide feedback), or receivers ADDRESS janus URL ROOM PIN TOKEN.

In the environment of the tests' clients that Tools/python makes. Reads a command a line, and answers each with one JSON
object: "join COUNT" lets so many more in, one after the other, and tells the milliseconds of each until it was
connected and until the first packet of its first key frame; "tell" tells what all of them have received. The end of
standard input ends it.
"""

import json
import os
import select
import sys
import time

from aiortc.rtcdtlstransport import RTCCertificate
from OpenSSL import SSL

from .doors import DOORS
from .receiver import CHROMIUM, PROFILES, REPORTING, Receiver, Refused

#: Each receiver takes what has come, and reports it, every 50 ms, as Chromium does; they take turns, a part at a time.
PERIOD, PARTS = 0.05, 10
#: Seconds within which a receiver must have got a key frame.
TIMEOUT = 40


def make_context():
    """What the handshakes have in common: one certificate for all, made as aiortc makes them."""
    certificate = RTCCertificate.generateCertificate()
    context = SSL.Context(SSL.DTLS_METHOD)
    context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
    context.use_certificate(certificate._cert)
    context.use_privatekey(certificate._key)
    context.set_tlsext_use_srtp(b":".join(PROFILES))
    fingerprint = next(one.value for one in certificate.getFingerprints() if one.algorithm == "sha-256")
    return context, fingerprint


class Crowd:
    def __init__(self, address, door, only_report):
        self.address, self.door, self.only_report = address, door, only_report
        self.context, self.fingerprint = make_context()
        self.all, self.part, self.due, self.latest = [], 0, time.monotonic(), 0.0

    def tick(self):
        """Lets the next part of the receivers work, if it is due."""
        now = time.monotonic()
        if now < self.due:
            return
        self.latest = max(self.latest, now - self.due)
        self.due = max(self.due + PERIOD / PARTS, now - PERIOD)
        for one in self.all[self.part::PARTS]:
            one.step()
        self.part = (self.part + 1) % PARTS

    def join(self, count):
        connected, begun, new = [], [], []
        for _ in range(count):
            # One of those that only report always names the number 0.
            place = len(self.all)
            habits = CHROMIUM if not self.only_report else REPORTING[2] if place == 0 else REPORTING[place % 2]
            one = Receiver(self.address, self.context, self.fingerprint, habits)
            begun.append(time.monotonic())
            self.door.admit(one)
            connected.append(time.monotonic())
            self.all.append(one)
            new.append(one)
            one.step()
            self.tick()
        end = time.monotonic() + TIMEOUT
        while any(one.first_key_frame is None for one in new):
            if time.monotonic() > end:
                raise Refused("%d receivers got no key frame" % sum(one.first_key_frame is None for one in new))
            self.wait()
            self.tick()
        return {"connected": [(then - start) * 1000 for start, then in zip(begun, connected)],
                "first": [(one.first_key_frame - start) * 1000 for start, one in zip(begun, new)]}

    def tell(self):
        latest, self.latest = self.latest, 0.0
        return {"packets": sum(one.packets for one in self.all), "octets": [one.octets for one in self.all],
                "missing": sum(one.missing() for one in self.all), "late_ms": latest * 1000,
                "frames": [one.frames for one in self.all]}

    def wait(self, inputs=()):
        return select.select(inputs, [], [], max(0.0, self.due - time.monotonic()))[0]


def main():
    address, kind, *words = sys.argv[1:]
    crowd, line = Crowd(address, DOORS[kind.removesuffix("-reports")](*words), kind.endswith("-reports")), b""
    print(json.dumps({"event": "ready"}), flush=True)
    while True:
        if crowd.wait([0]):
            more = os.read(0, 4096)
            if not more:
                return
            line += more
        crowd.tick()
        crowd.door.keep()
        if b"\n" in line:
            command, line = line.split(b"\n", 1)
            name, *values = command.decode().split()
            result = crowd.join(int(values[0])) if name == "join" else crowd.tell()
            print(json.dumps({"event": name, **result}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(str(refused))
