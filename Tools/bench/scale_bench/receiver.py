"""One receiver of WebRTC that is light enough for hundreds of them in a process.

It connects by ICE and DTLS as a browser does, counts RTP packets without decrypting more than it needs to see its first
key frame, and reports as a browser does.
"""

import bisect
import dataclasses
import os
import secrets
import socket
import struct
import time

from aioice import stun
from OpenSSL import SSL
from pylibsrtp import Error as SRTPError
from pylibsrtp import Policy, Session

from .feedback import begins_key_frame, extension, receiver_report, sender_report_time, transport_feedback, unwrap

CONGESTION = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
PROFILES = {b"SRTP_AEAD_AES_128_GCM": (Policy.SRTP_PROFILE_AEAD_AES_128_GCM, 16, 12),
            b"SRTP_AES128_CM_SHA1_80": (Policy.SRTP_PROFILE_AES128_CM_SHA1_80, 16, 14)}
#: Seconds: until a receiver must be connected, between its checks as Chromium makes them, and between its reports.
TIMEOUT, CHECKS, REPORTS = 10, 2.5, 1
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
#: The numbers that one feedback packet is about at most.
FEEDBACK = 200
BUFFER = 1 << 20


@dataclasses.dataclass(frozen=True)
class Habits:
    """What a receiver's library says of what it receives."""
    offers_numbers: bool = True  # negotiates transport-wide feedback
    sends_feedback: bool = True  # and sends it
    names_zero: bool = False  # its reports always name the sequence number 0, as libdatachannel's do


CHROMIUM = Habits()
#: aiortc; a library that promises feedback and sends none; libdatachannel.
REPORTING = [Habits(False, False), Habits(True, False), Habits(False, False, True)]


class Refused(Exception):
    """Why a receiver can't be connected."""


class Receiver:
    """A receiver at an address of this machine."""

    def __init__(self, address, context, fingerprint, habits=CHROMIUM):
        self.habits = habits
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 0))
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        except PermissionError:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self.address, self.fingerprint = self.socket.getsockname(), fingerprint
        self.ufrag, self.password = secrets.token_hex(4), secrets.token_hex(16)
        self.tls = SSL.Connection(context, None)
        self.tls.set_connect_state()
        self.ssrc = int.from_bytes(os.urandom(4), "big")
        self.peer, self.remote, self.is_checked = None, None, False
        self.number_of, self.incoming, self.outgoing = 0, None, None
        self.packets = self.octets = self.reports = self.media = self.lost = self.frames = 0
        self.number = self.sequence = self.expected = None
        self.arrivals, self.sender_report = [], (0, 0)
        self.next_check = self.next_report = 0.0
        self.first_packet = self.first_key_frame = None
        self.early = []  # what came before the handshake was seen to be complete

    def lines(self, setup="active"):
        """The lines of SDP about how it is reached."""
        return ["a=candidate:1 1 udp 2113937151 %s %d typ host" % self.address, "a=ice-ufrag:" + self.ufrag,
                "a=ice-pwd:" + self.password, "a=fingerprint:sha-256 " + self.fingerprint, "a=setup:" + setup]

    def connect(self, sdp, checks):
        """Connects to a peer by its description; with `checks` it makes ICE's checks and nominates, else the peer."""
        values = {}
        for line in sdp.splitlines():
            name, _, value = line.strip()[2:].partition(":")
            if line.startswith("a=") and (name not in values or name == "candidate"):
                values[name] = value if name != "candidate" else values.get(name, []) + [value.split()]
            if line.startswith("a=extmap:") and line.strip().endswith(CONGESTION):
                self.number_of = int(value.split()[0].split("/")[0])
        candidates = [(one[4], int(one[5])) for one in values.get("candidate", [])
                      if one[2].lower() == "udp" and ":" not in one[4]]
        if not candidates:
            raise Refused("no address of UDP and IPv4 in what it answers")
        self.remote = values["ice-ufrag"], values["ice-pwd"]
        if checks:
            self.peer = candidates[0]
        end = time.monotonic() + TIMEOUT
        while self.outgoing is None:
            if time.monotonic() > end:
                raise Refused("not connected within %d s" % TIMEOUT)
            self.step()
            if self.outgoing is None:
                self._wait(0.02)

    def step(self):
        """Does all that is due, and takes what has come."""
        now = time.monotonic()
        if self.peer and now >= self.next_check:
            self._check()
            self.next_check = now + (CHECKS if self.is_checked else 0.1)
        self._take_all()
        if self.outgoing is None:
            if self.is_checked:
                self._shake_hands()
        else:
            self._report(now)

    def close(self):
        self.socket.close()

    def _wait(self, seconds):
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except OSError:
            pass
        self.socket.setblocking(False)

    def _take_all(self):
        receive = self.socket.recvmsg
        while True:
            try:
                data, extra, _, address = receive(2048, 64)
            except OSError:
                return
            first = data[0] if data else 255
            if 128 <= first < 192:
                seconds, part = struct.unpack("qq", extra[0][2][:16]) if extra else (0, time.time_ns())
                arrival = seconds * 1_000_000_000 + part
                if 192 <= data[1] < 224:
                    self._take_rtcp(data, arrival)
                else:
                    self._take_rtp(data, arrival)
            elif 20 <= first < 64:
                self.tls.bio_write(data)
            elif first < 4:
                self._take_stun(data, address)

    # ICE

    def _check(self):
        request = stun.Message(message_method=stun.Method.BINDING, message_class=stun.Class.REQUEST)
        request.attributes["USERNAME"] = "%s:%s" % (self.remote[0], self.ufrag)
        request.attributes["PRIORITY"] = 1853824767
        request.attributes["ICE-CONTROLLING"] = 1
        request.attributes["USE-CANDIDATE"] = None
        self._send_stun(request, self.remote[1], self.peer)

    def _take_stun(self, data, address):
        try:
            message = stun.parse_message(data)
        except ValueError:
            return
        if message.message_class == stun.Class.REQUEST:
            answer = stun.Message(message_method=stun.Method.BINDING, message_class=stun.Class.RESPONSE,
                                  transaction_id=message.transaction_id)
            answer.attributes["XOR-MAPPED-ADDRESS"] = address
            self._send_stun(answer, self.password, address)
            if "USE-CANDIDATE" in message.attributes and not self.is_checked:
                # The peer chooses.
                self.peer, self.is_checked, self.next_check = address, True, float("inf")
        elif message.message_class == stun.Class.RESPONSE and address == self.peer:
            self.is_checked = True

    def _send_stun(self, message, password, address):
        message.add_message_integrity(password.encode())
        message.add_fingerprint()
        self._send(bytes(message), address)

    def _send(self, data, address):
        try:
            self.socket.sendto(data, address)
        except OSError:
            pass  # as if it were lost

    # DTLS

    def _shake_hands(self):
        try:
            self.tls.do_handshake()
        except SSL.WantReadError:
            self.tls.DTLSv1_handle_timeout()
        else:
            self._begin_media()
        while True:
            try:
                self._send(self.tls.bio_read(1500), self.peer)
            except SSL.WantReadError:
                return

    def _begin_media(self):
        profile, key, salt = PROFILES[self.tls.get_selected_srtp_profile()]
        secret = self.tls.export_keying_material(b"EXTRACTOR-dtls_srtp", 2 * (key + salt))

        def session(index, kind):
            master = secret[index * key:][:key] + secret[2 * key + index * salt:][:salt]
            return Session(Policy(key=master, ssrc_type=kind, srtp_profile=profile))

        self.outgoing = session(0, Policy.SSRC_ANY_OUTBOUND)
        self.incoming = session(1, Policy.SSRC_ANY_INBOUND)
        for data, arrival in self.early:
            self._take_rtp(data, arrival)
        self.early = []
        # Not all at once with the others.
        self.next_report = time.monotonic() + secrets.randbelow(1000) / 1000

    # RTP

    def _take_rtp(self, data, arrival):
        if self.incoming is None:
            self.early.append((data, arrival))
            return
        self.packets += 1
        self.octets += len(data)
        if self.first_packet is None:
            self.first_packet = time.monotonic() - (time.time_ns() - arrival) / 1e9
            self.media = int.from_bytes(data[8:12], "big")
        if self.first_key_frame is None and begins_key_frame(self._open(data)):
            self.first_key_frame = time.monotonic() - (time.time_ns() - arrival) / 1e9
        if self.number_of:
            number = extension(data, self.number_of)
            if number is not None:
                self.number = number if self.number is None else unwrap(number, self.number)
                self.arrivals.append((self.number, arrival))
        if int.from_bytes(data[8:12], "big") == self.media:
            sequence = data[2] << 8 | data[3]
            if self.sequence is None:
                self.sequence = self.expected = sequence
            self.sequence = max(self.sequence, unwrap(sequence, self.sequence))
            self.lost -= 1
            self.frames += data[1] >> 7

    def _open(self, data):
        try:
            return self.incoming.unprotect(data)
        except SRTPError:
            return b""

    def _take_rtcp(self, data, arrival):
        if self.incoming is None:
            return
        middle = sender_report_time(self.incoming.unprotect_rtcp(data))
        if middle is not None:
            # A library that measures no arrivals knows when it handles a packet.
            self.sender_report = middle, arrival if self.habits.sends_feedback else time.time_ns()

    def missing(self):
        """The packets of the media's own stream that have not come."""
        return 0 if self.sequence is None else self.sequence - self.expected + 1 + self.lost

    def _report(self, now):
        ordered, self.arrivals = sorted(self.arrivals) if self.habits.sends_feedback else [], []
        while ordered:
            count = bisect.bisect(ordered, (ordered[0][0] + FEEDBACK, 0))
            packet = transport_feedback(self.ssrc, self.media, self.reports, ordered[:count])
            del ordered[:count]
            self.reports += 1
            self._send(self.outgoing.protect_rtcp(packet), self.peer)
        if now >= self.next_report and self.sequence is not None:
            self.next_report = now + REPORTS
            middle, arrival = self.sender_report
            since = (time.time_ns() - arrival) * 65536 // 1_000_000_000 if middle else 0
            highest = 0 if self.habits.names_zero else self.sequence
            packet = receiver_report(self.ssrc, self.media, highest, max(0, self.missing()), middle, since)
            self._send(self.outgoing.protect_rtcp(packet), self.peer)
