"""Clients of a host that ends and comes back: viewers that join again, and connections to its port."""

import asyncio
import json
import socket
import ssl
import struct
import threading
import time

import websockets

from bench_kit.processes import Failure, wait_until

#: Where the host listens.
ADDRESS = ("127.0.0.1", 8080)
#: Seconds that anything may take on a busy machine, and between a viewer's attempts to join.
LIMIT, RETRY = 60, 0.2
#: Seconds in which a host that is full closes a WebSocket after its refusal.
CLOSE = 5


def trust():
    """Any certificate: the viewers only have to get in."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Viewer:
    """Gets the frames over a WebSocket, by Protocol/rooms.md, and joins again whenever it closes."""

    def __init__(self, link):
        origin, self.room = link.split("/#")
        self.address = "wss" + origin.removeprefix("https") + "/ws"
        #: Why the host is full, and the code with which it closed the WebSocket then.
        self.refusal, self.code = None, None
        self.joins, self.last, self.gap = 0, None, 0

    async def run(self):
        while True:
            try:
                async with websockets.connect(
                        self.address, ssl=trust(), max_size=None, compression=None, open_timeout=LIMIT) as connection:
                    await self._watch(connection)
            except websockets.InvalidHandshake as error:
                self.refusal = str(error)
            except (OSError, asyncio.TimeoutError, websockets.WebSocketException):
                pass  # the host has ended
            await asyncio.sleep(RETRY)

    async def _watch(self, connection):
        async def send(name, **data):
            await connection.send(json.dumps({"eventName": name, "data": data}))

        self.joins += 1
        can_decode = False
        await send("__join", room=self.room, role="viewer")
        async for message in connection:
            if isinstance(message, bytes):
                _, flags, _, number = struct.unpack(">BBHI", message[:8])
                can_decode = can_decode or bool(flags & 1)
                if can_decode:
                    self._see(time.monotonic())
                await send("__frames_seen", number=number)
                continue
            event = json.loads(message)
            if event["eventName"] == "_peers":
                await send("__frames")
            elif event["eventName"] == "_refused":
                await asyncio.wait_for(connection.wait_closed(), CLOSE)
                self.code, self.refusal = connection.close_code, event["data"].get("reason", "without a reason")
                return
            elif event["eventName"] == "_session_ended":
                return

    def _see(self, now):
        if self.last is not None:
            self.gap = max(self.gap, now - self.last)
        self.last = now


class Crowd:
    """Viewers in a thread of their own."""

    def __init__(self):
        self.viewers, self._tasks, self._loop = [], [], asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def add(self, link):
        viewer = Viewer(link)
        self.viewers.append(viewer)
        self._tasks.append(asyncio.run_coroutine_threadsafe(viewer.run(), self._loop))
        return viewer

    def keep(self, count):
        """Removes all viewers after the first ones."""
        for task in self._tasks[count:]:
            task.cancel()
        del self.viewers[count:], self._tasks[count:]

    def joins(self):
        return sum(viewer.joins for viewer in self.viewers)

    def watch(self, then):
        """Calls `then`, waits until all viewers get frames afterwards, and gives the longest time without one."""
        for viewer in self.viewers:
            viewer.gap = 0
        then()
        begun = time.monotonic()
        wait_until(lambda: all((viewer.last or 0) > begun for viewer in self.viewers), LIMIT, "a frame for all viewers")
        return max(viewer.gap for viewer in self.viewers)


class Knocking:
    """Connects to the host's port every 20 ms in a thread, and counts."""

    def __enter__(self):
        self.count, self.failures, self._is_over = 0, [], threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self):
        while not self._is_over.wait(0.02):
            self.count += 1
            try:
                socket.create_connection(ADDRESS, timeout=LIMIT).close()
            except OSError as error:
                self.failures.append(error)

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()

    def result(self):
        if self.failures:
            raise Failure("%d of %d connections failed: %s" % (len(self.failures), self.count, self.failures[0]))
        return "none of %d connections failed" % self.count
