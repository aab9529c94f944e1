"""Takes TLS connections on a free port of 127.0.0.1 and passes what they carry to a server without TLS.

    tls_forwarder.py CERTIFICATE KEY PORT

Says, one JSON object a line: where it listens (`listening` with its `port`), and each connection that has sent something
(`connected`). The server is connected to only then: who doesn't trust the certificate goes without a word.
"""

import json
import socket
import ssl
import sys
import threading


def say(event, **facts):
    # One call: print writes the line and its end apart, and threads would mix theirs.
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def carry(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(connection, context, port):
    try:
        with context.wrap_socket(connection, server_side=True) as client:
            first = client.recv(65536)
            if not first:
                return
            say("connected")
            with socket.create_connection(("127.0.0.1", port)) as server:
                server.sendall(first)
                threading.Thread(target=carry, args=(server, client), daemon=True).start()
                carry(client, server)
    except OSError:
        pass


def main():
    certificate, key, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        say("listening", port=listener.getsockname()[1])
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, context, port), daemon=True).start()


main()
