"""Begins a request from one address, opens many connections from others that say nothing, and then ends the request.

    crowd.py SERVER PORT REQUEST ADDRESS COUNT OTHER...

COUNT connections come from each other address; REQUEST has `\\n` for the ends of its lines, but for the empty one. Says the
first line of the answer (`answer` with its `line`, empty if the connection was closed instead), as a JSON object.
"""

import json
import resource
import socket
import sys

server = (sys.argv[1], int(sys.argv[2]))
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
client = socket.create_connection(server, source_address=(sys.argv[4], 0))
client.sendall(sys.argv[3].replace("\\n", "\r\n").encode() + b"\r\n")
crowd = []
for _ in range(int(sys.argv[5])):
    for address in sys.argv[6:]:
        crowd.append(socket.create_connection(server, source_address=(address, 0)))
try:
    client.sendall(b"\r\n")
    client.settimeout(30)
    line = client.recv(4096).split(b"\r\n")[0].decode()
except OSError:
    line = ""
print(json.dumps({"event": "answer", "line": line}), flush=True)
