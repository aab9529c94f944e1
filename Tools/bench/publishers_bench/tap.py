"""Between a publisher and the host's port of RTMP: passes all bytes on, and keeps the publisher's with their times."""

import socket
import threading
import time

from . import counter, rtmp
from .player import Picture


class Tap:
    """Listens at `port` from its construction on."""

    def __init__(self, host_port):
        #: The publisher's connections, in their order.
        self.connections = []
        self._host_port = host_port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self):
        while True:
            try:
                publisher = self._server.accept()[0]
            except OSError:
                return
            try:
                self.connections.append(Connection(publisher, self._host_port))
            except OSError:
                publisher.close()

    def close(self):
        # Closing it alone would not wake the thread.
        self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._server.close()
        for one in self.connections:
            one.close()


class Connection:
    def __init__(self, publisher, host_port):
        #: When the publisher connected, in seconds of CLOCK_MONOTONIC, and when one of both sides ended it.
        self.began, self.ended = time.monotonic(), None
        self._chunks = []
        self._sockets = [publisher, socket.create_connection(("127.0.0.1", host_port), 10)]
        for one in self._sockets:
            one.settimeout(None)
            # What is passed on must not wait for more.
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._threads = [threading.Thread(target=self._pass, args=words, daemon=True)
                         for words in ((*self._sockets, self._chunks), (*reversed(self._sockets), None))]
        for one in self._threads:
            one.start()

    def _pass(self, source, target, kept):
        try:
            while data := source.recv(1 << 16):
                if kept is not None:
                    kept.append((time.monotonic(), data))
                target.sendall(data)
        except OSError:
            pass
        self.ended = self.ended or time.monotonic()
        for one in self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the other side has ended it already

    def close(self):
        for one in self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for one in self._threads:
            one.join(5)
        for one in self._sockets:
            one.close()

    def sent(self, folder):
        """The pictures so far, in the order in which they are shown, as (number, when it was sent); and whether there
        are B-frames."""
        found, sets, offsets = [], b"", set()
        for kind, when, body, arrived in rtmp.messages(list(self._chunks)):
            # A video tag of H.264 (FLV, annex E.4.3).
            if kind != rtmp.VIDEO or len(body) < 5 or body[0] & 15 != 7:
                continue
            if body[1] == 0:
                sets = rtmp.parameter_sets(body[5:])
            elif body[1] == 1:
                offset = int.from_bytes(body[2:5], "big", signed=True)
                offsets.add(offset)
                found.append(Picture(arrived, 90 * (when + offset), rtmp.byte_stream(body[5:])))
        numbers = counter.decode(sets + b"".join(one.data for one in found), len(found), folder)
        shown = sorted(found, key=lambda one: one.timestamp)
        return [(number, one.arrived) for number, one in zip(numbers, shown)], len(offsets) > 1
