"""A web server on a free port of 127.0.0.1 with the files of a folder.

    pages.py FOLDER

Says where it listens, as one JSON object (`listening` with its `port`).
"""

import functools
import http.server
import json
import sys


class Pages(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main():
    handler = functools.partial(Pages, directory=sys.argv[1])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        print(json.dumps({"event": "listening", "port": server.server_port}), flush=True)
        server.serve_forever()


main()
