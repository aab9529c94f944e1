"""A receiver of the capture link (Protocol/capture-link.md): keeps the stream, and when what came."""

import dataclasses
import os
import socket
import struct
import threading

from .processes import now_ns

HEADER = struct.Struct("<BBBBIQqiIQ")
NAL_UNIT, HELLO, PICTURE = 0, 1, 2
POINTER_SHAPE, POINTER_POSITION = 6, 7
POINTER_MODE = 37
TELLS_POINTER, CHANGES_CHROMA = 2, 4
UNKNOWN = 0xFFFFFFFF
LARGEST_PAYLOAD = 8 << 20


@dataclasses.dataclass
class Picture:
    """One access unit as it arrived; times are CLOCK_MONOTONIC, ns."""
    number: int
    damage: tuple
    quantizer: int
    settling_ns: int
    #: Before `pts`: since the change was noticed, or painted if the display says when; None where it isn't known.
    waited_ns: int | None = None
    pts: int = 0
    arrival: int = 0
    offset: int = 0
    end: int = 0
    is_idr: bool = False

    @property
    def painted(self):
        """When the first change in it was noticed, or painted if the display says when; None where it isn't known."""
        return None if self.waited_ns is None else self.pts - self.waited_ns


class LinkPictures:
    """The pictures that the messages of a capture link make."""

    def __init__(self):
        self.pictures = []
        self.stream = bytearray()
        self._open = None

    def take(self, kind, flags, pts, payload, arrival):
        if kind == NAL_UNIT:
            # A capture that was told nothing yet sends no picture message: its NAL units make pictures all the same.
            picture = self._open or Picture(-1, (0, 0, 0, 0), 0, 0)
            if self._open is None or picture.end == 0:
                picture.offset = len(self.stream)
            self._open = picture
            self.stream += payload
            picture.end = len(self.stream)
            picture.pts, picture.arrival = pts, arrival
            picture.is_idr = picture.is_idr or payload[4] & 31 == 5
            if flags & 1:
                self.pictures.append(picture)
                self._open = None
        elif kind == PICTURE:
            number, x, y, width, height = struct.unpack_from("<QHHHH", payload)
            quantizer, settling, waited = 0, 0, UNKNOWN
            if len(payload) >= 24:
                _, quantizer, _, settling = struct.unpack_from("<BBHI", payload, 16)
            if len(payload) >= 28:
                waited, = struct.unpack_from("<I", payload, 24)
            self._open = Picture(number, (x, y, width, height), quantizer, settling * 1000,
                                 None if waited == UNKNOWN else waited * 1000)

    def take_message(self, message, arrival):
        """Takes a message with its header."""
        _, kind, flags, _, _, _, pts, _, _, _ = HEADER.unpack_from(message)
        self.take(kind, flags, pts, message[HEADER.size:], arrival)


class LinkReceiver(LinkPictures):
    """Listens on a Unix socket for one capture process."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.pointer_messages = 0
        self.problem = None
        self._peer = None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen(1)
        self._listener.settimeout(30)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def position(self):
        """Bytes of complete NAL units so far."""
        return len(self.stream)

    def close(self):
        for one in (self._peer, self._listener):
            if one:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self._thread.join(5)
        for one in (self._peer, self._listener):
            if one:
                one.close()
        if os.path.exists(self.path):
            os.unlink(self.path)

    def _send(self, kind, payload):
        self._peer.sendall(HEADER.pack(0x26, kind, 0, 0, 0, len(payload), 0, 0, 0, 0) + payload)

    def _run(self):
        try:
            self._peer, _ = self._listener.accept()
            name = b"capture-bench"
            abilities = TELLS_POINTER | CHANGES_CHROMA
            self._send(HELLO, struct.pack("<HBBIH", 1, 2, abilities, os.getpid(), len(name)) + name)
            self._read_messages()
        except (OSError, ValueError) as error:
            if self.problem is None:
                self.problem = str(error)

    def _read_messages(self):
        buffer = bytearray()
        while True:
            data = self._peer.recv(1 << 18)
            if not data:
                return
            arrival = now_ns()
            buffer += data
            start = 0
            while len(buffer) - start >= HEADER.size:
                marker, kind, flags, _, _, length, pts, _, _, _ = HEADER.unpack_from(buffer, start)
                if marker != 0x26 or length > LARGEST_PAYLOAD:
                    raise ValueError("the capture link has a message that is none")
                if len(buffer) - start < HEADER.size + length:
                    break
                payload = bytes(buffer[start + HEADER.size:start + HEADER.size + length])
                self.take(kind, flags, pts, payload, arrival)
                start += HEADER.size + length
            del buffer[:start]

    def take(self, kind, flags, pts, payload, arrival):
        if kind == HELLO and payload[3] & TELLS_POINTER:
            self._send(POINTER_MODE, b"\0")
        elif kind in (POINTER_SHAPE, POINTER_POSITION):
            self.pointer_messages += 1
        else:
            super().take(kind, flags, pts, payload, arrival)
