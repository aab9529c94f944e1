"""WHEP in front of a room of Janus' VideoRoom: usage: gateway URL ROOM PIN TOKEN.

In the environment of the tests' clients that Tools/python makes. Janus makes the offers of its room, and a WHEP viewer
makes one too. So each side gets as answer what the other has offered: Janus an answer with the viewer's credentials, by
which it is the DTLS client, and the viewer Janus' own offer as the answer. Janus has to be ICE-lite, so that only the
viewer wants to choose the path.

Prints {"event": "ready", "port": PORT} once the room has a publisher. SIGTERM ends it.
"""

import http.server
import json
import queue
import sys
import threading
import time

from .doors import JanusDoor, Refused, answer

#: Requests at a time, each with a session of its own at Janus, as many as bench-viewers makes.
SESSIONS = 8
#: Seconds until the room must have a publisher, and between two looks for it.
TIMEOUT, PAUSE = 30, 0.05


class Door(JanusDoor):
    #: More often than Janus wants it: Janus' messages about viewers, which wait in the connection, are read then.
    LIFE = 5


class Viewer:
    """What a viewer's offer says of how it is reached; without candidates, since Janus sees where checks come from."""

    def __init__(self, offer):
        kept = ("a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:")
        self.kept = [line.strip() for line in offer.splitlines() if line.startswith(kept)]

    def lines(self):
        # As the server it would begin before Janus takes its first message.
        return [*self.kept, "a=setup:passive"]


def join(door, offer):
    """Gives what the viewer takes as the answer to its offer."""
    handle, own = door.subscribe()
    door.start(handle, answer(own, Viewer(offer)), True)
    return own.replace("a=setup:actpass", "a=setup:active")


def offer(words):
    """Gives the door and the number of a new viewer, and what the room offers to it."""
    door = Door(*words)
    handle, sdp = door.subscribe()
    return door, handle, sdp


def accept(door, handle, text):
    """Gives Janus a viewer's answer. It is sent no candidates: a browser hides its addresses, and Janus sees them."""
    lines = [line for line in text.splitlines() if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
    door.start(handle, "\r\n".join(lines) + "\r\n", True)


class Handler(http.server.BaseHTTPRequestHandler):
    doors = queue.Queue()
    #: Doors of viewers that have Janus' offer and haven't answered, by the path of the answer.
    waiting = {}
    words = ()

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            status, body, more = self._reply(text)
        except (Refused, OSError) as problem:
            status, body, more = 502, str(problem), {"Content-Type": "text/plain"}
        body = body.encode()
        self.send_response(status)
        for name, value in {**more, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _reply(self, text):
        """Gives the status, the body and the headers."""
        description = {"Content-Type": "application/sdp"}
        if self.path == "/offer":
            door, handle, sdp = offer(self.words)
            path = "/answer/%d" % handle
            self.waiting[path] = door, handle
            return 201, sdp, {**description, "Location": path}
        if self.path in self.waiting:
            door, handle = self.waiting.pop(self.path)
            accept(door, handle, text)
            # Its session is kept alive like the others.
            self.doors.put(door)
            return 200, "", {}
        door = self.doors.get()
        try:
            return 201, join(door, text), description
        finally:
            self.doors.put(door)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def keep(doors):
    """Shows Janus that all sessions are alive."""
    while True:
        time.sleep(1)
        for _ in range(doors.qsize()):
            door = doors.get()
            try:
                door.keep()
            except (Refused, OSError):
                pass  # a server that is overloaded may answer later
            finally:
                doors.put(door)


def main():
    words = sys.argv[1:]
    doors = [Door(*words) for _ in range(SESSIONS)]
    handle, end = doors[0].attach(), time.monotonic() + TIMEOUT
    while doors[0].publisher(handle) is None:
        if time.monotonic() > end:
            sys.exit("the room has no publisher after %d s" % TIMEOUT)
        time.sleep(PAUSE)
    for door in doors:
        Handler.doors.put(door)
    Handler.words = words
    threading.Thread(target=keep, args=[Handler.doors], daemon=True).start()
    with Server(("127.0.0.1", 0), Handler) as server:
        print(json.dumps({"event": "ready", "port": server.server_port}), flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
