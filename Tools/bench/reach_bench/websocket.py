"""The client's side of a WebSocket (RFC 6455), as far as controlling a browser needs it."""

import base64
import os
import struct
import time

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class WebSocket:
    """Text messages over a TCP connection; an OSError if it ends, a TimeoutError if a deadline passes."""

    def __init__(self, connection, host, path):
        self._connection, self._received = connection, b""
        key = base64.b64encode(os.urandom(16)).decode()
        try:
            connection.sendall((
                "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (path, host, key)).encode())
            deadline = time.monotonic() + 10
            while b"\r\n\r\n" not in self._received:
                self._read(deadline)
            answer, self._received = self._received.split(b"\r\n\r\n", 1)
            status = answer.split(b"\r\n", 1)[0]
            if status.split(b" ")[1:2] != [b"101"]:
                raise ConnectionError("no WebSocket: %s" % status.decode(errors="replace"))
        except BaseException:
            connection.close()
            raise

    def send(self, text):
        self._send(TEXT, text.encode())

    def receive(self, deadline):
        """The next text message; `deadline` is a time of CLOCK_MONOTONIC in seconds."""
        parts = []
        while True:
            first, second = self._take(2, deadline)
            size = second & 0x7F
            if size >= 126:
                size = int.from_bytes(self._take(2 if size == 126 else 8, deadline), "big")
            # A server doesn't mask.
            data = self._take(size, deadline)
            kind = first & 0x0F
            if kind == CLOSE:
                raise ConnectionError("the WebSocket was closed")
            if kind == PING:
                self._send(PONG, data)
            if kind >= CLOSE:
                continue
            parts.append(data)
            if first & 0x80:
                return b"".join(parts).decode()

    def close(self):
        self._connection.close()

    def _send(self, kind, data):
        size = len(data)
        head = bytes([0x80 | kind])
        if size < 126:
            head += bytes([0x80 | size])
        else:
            head += struct.pack("!BH", 0x80 | 126, size) if size < 1 << 16 else struct.pack("!BQ", 0x80 | 127, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self._connection.settimeout(30)
        self._connection.sendall(head + mask + masked)

    def _take(self, count, deadline):
        while len(self._received) < count:
            self._read(deadline)
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _read(self, deadline):
        self._connection.settimeout(max(0.001, deadline - time.monotonic()))
        data = self._connection.recv(1 << 20)
        if not data:
            raise ConnectionError("the connection has ended")
        self._received += data
