"""Starts TLS handshakes and stalls them, eight from each address, and starts another one for each that the server ends.

    stalled_handshakes.py SERVER PORT ADDRESS...

Says, one JSON object a line: that all have begun (`begun` with their number), and each one that the server has ended (`closed`).
"""

import json
import selectors
import socket
import sys

EACH = 8
selector = selectors.DefaultSelector()


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


def begin(server, address):
    connection = socket.create_connection(server, source_address=(address, 0))
    # A record of a handshake, of which the rest never comes.
    connection.sendall(bytes([0x16, 3, 1, 2, 0, 1]))
    selector.register(connection, selectors.EVENT_READ, address)


def main():
    server = (sys.argv[1], int(sys.argv[2]))
    for address in sys.argv[3:]:
        for _ in range(EACH):
            begin(server, address)
    say("begun", count=EACH * len(sys.argv[3:]))
    while True:
        for key, _ in selector.select():
            try:
                if key.fileobj.recv(4096):
                    continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()
            say("closed", address=key.data)
            begin(server, key.data)


main()
