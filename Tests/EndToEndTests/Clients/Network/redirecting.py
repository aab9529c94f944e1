"""A web server that sends each request on to an address of its own machine, and says what is asked for there.

    redirecting.py ADDRESS

Listens at ports of ADDRESS and of 127.0.0.1. Says, one JSON object a line: that it listens (`listening` with `port`), each
request at ADDRESS (`sent` with its `method`), and each connection to 127.0.0.1 over which something came (`asked` with its
first `line`).
"""

import json
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def say(event, **facts):
    # One call: print writes the line and its end apart, and threads would mix theirs.
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


inner = socket.create_server(("127.0.0.1", 0))


def listen():
    while True:
        connection = inner.accept()[0]
        connection.settimeout(10)
        try:
            text = connection.recv(4096)
        except OSError:
            text = b""
        if text:
            say("asked", line=text.split(b"\r\n")[0].decode(errors="replace"))
        connection.close()


class Redirect(BaseHTTPRequestHandler):
    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        say("sent", method=self.command)
        self.send_response(307)
        self.send_header("Location", f"http://127.0.0.1:{inner.getsockname()[1]}/inside")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer((sys.argv[1], 0), Redirect)
threading.Thread(target=listen, daemon=True).start()
say("listening", port=server.server_port)
server.serve_forever()
