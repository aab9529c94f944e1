"""A reverse proxy on a free port of 127.0.0.1 that calls the server behind it `localhost`, whatever name a client used.

    naming_proxy.py PORT

Says where it listens, as one JSON object (`listening` with its `port`).
"""

import json
import re
import socket
import sys
import threading


def carry(source, target, change=lambda data: data):
    try:
        while data := source.recv(65536):
            target.sendall(change(data))
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def rename(data):
    # A browser sends the header of a request in one piece.
    return re.sub(rb"\r\nHost: [^\r]*\r\n", b"\r\nHost: localhost\r\n", data)


def serve(client, port):
    with client, socket.create_connection(("127.0.0.1", port)) as server:
        threading.Thread(target=carry, args=(server, client), daemon=True).start()
        carry(client, server, rename)


def main():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(json.dumps({"event": "listening", "port": listener.getsockname()[1]}), flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, int(sys.argv[1])), daemon=True).start()


main()
