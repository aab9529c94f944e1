"""A player over RTSP (RFC 2326) that keeps each picture with the time at which its last byte arrived."""

import base64
import dataclasses
import re
import socket
import threading
import time

from bench_kit.processes import Failure

from . import counter
from .flv import START_CODE

#: Types of NAL units, and of what carries several or a part of one (RFC 6184, section 5.2).
LAST_SINGLE, STAP_A, FU_A = 23, 24, 28


@dataclasses.dataclass
class Picture:
    #: Seconds of CLOCK_MONOTONIC.
    arrived: float
    #: On the RTP clock of 90 kHz, without its wrapping.
    timestamp: int
    #: Its NAL units, as a byte stream.
    data: bytes


class Player:
    """Plays from its construction on; it decodes nothing."""

    def __init__(self, port, url):
        self.pictures, self.failure = [], None
        self._count, self._buffer = 0, b""
        self._units, self._last = bytearray(), None
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), 10)
        except OSError as error:
            raise Failure("the player: %s" % error)
        try:
            self._play(url)
        except OSError as error:
            self._socket.close()
            raise Failure("the player: %s" % error)
        except BaseException:
            self._socket.close()
            raise
        self._socket.settimeout(None)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _play(self, url):
        # Without sound, the port has nothing but these pictures.
        url += "?audio=none"
        description = self._ask("DESCRIBE", url, "Accept: application/sdp")
        base = re.search(r"^content-base: *(\S+)", description, re.IGNORECASE | re.MULTILINE)
        video = description[description.find("m=video"):]
        control = re.search(r"^a=control:(\S+)", video, re.MULTILINE)
        if not base or not control:
            raise Failure("the player: a description without video")
        sets = re.search(r"sprop-parameter-sets=([^;\s]+)", video)
        #: The parameter sets of the description, as a byte stream.
        self.parameter_sets = b"".join(
            START_CODE + base64.b64decode(one) for one in (sets.group(1).split(",") if sets else []))
        answer = self._ask("SETUP", base.group(1) + control.group(1),
                           "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        session = re.search(r"^session: *([^;\s]+)", answer, re.IGNORECASE | re.MULTILINE)
        self._ask("PLAY", url, "Session: " + (session.group(1) if session else ""))
        #: When it began.
        self.began = time.monotonic()

    def _ask(self, method, url, *headers):
        """The answer, with its body."""
        self._count += 1
        lines = ["%s %s RTSP/1.0" % (method, url), "CSeq: %d" % self._count, *headers, "", ""]
        self._socket.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self._buffer:
            self._receive(method)
        head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
        head = head.decode()
        if head.split(" ")[1] != "200":
            raise Failure("the player: %s: %s" % (method, head.splitlines()[0]))
        length = re.search(r"^content-length: *(\d+)", head, re.IGNORECASE | re.MULTILINE)
        length = int(length.group(1)) if length else 0
        while len(self._buffer) < length:
            self._receive(method)
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return head.replace("\r", "") + "\n" + body.decode().replace("\r", "")

    def _receive(self, method):
        data = self._socket.recv(65536)
        if not data:
            raise Failure("the player: the host closes at %s" % method)
        self._buffer += data

    def _read(self):
        buffer = bytearray(self._buffer)
        arrived = time.monotonic()
        while True:
            # `$`, the channel, the length in two bytes, the packet (section 10.12).
            start = 0
            while len(buffer) - start >= 4:
                end = start + 4 + int.from_bytes(buffer[start + 2:start + 4], "big")
                if end > len(buffer):
                    break
                if buffer[start] != 0x24:
                    self.failure = "the host sends something else than packets"
                    return
                if buffer[start + 1] == 0:
                    self._packet(bytes(buffer[start + 4:end]), arrived)
                start = end
            del buffer[:start]
            try:
                data = self._socket.recv(1 << 20)
            except OSError:
                data = b""
            if not data:
                self.failure = "the host has closed the connection"
                return
            arrived = time.monotonic()
            buffer += data

    def _packet(self, packet, arrived):
        # Our host writes no extensions and no padding.
        payload = packet[12:]
        kind = payload[0] & 31
        if kind <= LAST_SINGLE:
            self._units += START_CODE + payload
        elif kind == STAP_A:
            place = 1
            while place + 2 <= len(payload):
                end = place + 2 + int.from_bytes(payload[place:place + 2], "big")
                self._units += START_CODE + payload[place + 2:end]
                place = end
        elif kind == FU_A:
            if payload[1] & 0x80:
                self._units += START_CODE + bytes([payload[0] & 0xE0 | payload[1] & 31])
            self._units += payload[2:]
        if packet[1] & 0x80:
            timestamp = int.from_bytes(packet[4:8], "big")
            if self._last is not None:
                # The nearest one to the last.
                step = (timestamp - self._last) & 0xFFFFFFFF
                timestamp = self._last + (step - (1 << 32) if step & 0x80000000 else step)
            self._last = timestamp
            self.pictures.append(Picture(arrived, timestamp, bytes(self._units)))
            self._units.clear()

    def require_playing(self):
        if self.failure:
            raise Failure("the player: " + self.failure)

    def close(self):
        """Ends it; its pictures stay."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._reader.join(5)
        self._socket.close()

    def numbers(self, folder):
        """The numbers on the pictures so far."""
        stream = self.parameter_sets + b"".join(one.data for one in self.pictures)
        return counter.decode(stream, len(self.pictures), folder)
