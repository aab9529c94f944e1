"""Players of HLS (RFC 8216) at edges that want signed links; they fetch what a player fetches, and show nothing.

    hls_players.py COUNT SECONDS SECRET PLAYLIST EDGE...

They take the edges (HOST:PORT) by turns, and each has a link of its own for PLAYLIST, such as `live/room`. Says how long
they played (`done` with their `lists`, `segments` and `bytes`, the kinds of `caching` that the edges ask for, and
`faults`), as a JSON object. Before that, `refused` has the statuses of links that are forged, expired or for another
playlist, and a `link` that isn't.
"""

import asyncio
import base64
import collections
import hashlib
import json
import random
import re
import resource
import sys
import time

DAY = 86400
#: Where a player begins, in segments before the end of the list (section 6.3.3).
FROM_END = 3


def sign(expires, playlist, secret):
    digest = hashlib.md5(b"%d %s %s" % (expires, playlist.encode(), secret.encode())).digest()
    return "%d,%s" % (expires, base64.urlsafe_b64encode(digest).decode().rstrip("="))


def link(playlist, signature):
    folder, name = playlist.rsplit("/", 1)
    return "/%s/%s/%s.m3u8" % (folder, signature, name)


class Connection:
    def __init__(self, edge):
        self.edge = edge
        self.writer = None

    async def get(self, path):
        if not self.writer:
            host, port = self.edge.rsplit(":", 1)
            self.reader, self.writer = await asyncio.open_connection(host, int(port))
        self.writer.write(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path.encode(), self.edge.encode()))
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return int(head.split()[1]), headers.get("cache-control", ""), body

    def close(self):
        if self.writer:
            self.writer.close()
            self.writer = None


class Players:
    def __init__(self):
        self.count = collections.Counter()
        self.caching = collections.defaultdict(set)
        self.faults = collections.Counter()

    async def fetch(self, connection, path):
        """The body; None if it isn't there."""
        status, caching, body = await connection.get(path)
        kind = path.rsplit(".", 1)[1]
        self.caching[kind].add(caching)
        self.count["bytes"] += len(body)
        if status == 200:
            return body
        self.faults["%d for a file of the kind %s" % (status, kind)] += 1
        return None

    async def play(self, edge, path, deadline):
        connection, folder = Connection(edge), path.rsplit("/", 1)[0] + "/"
        known, initialization, last = None, None, None
        try:
            while (begin := time.monotonic()) < deadline:
                body = await self.fetch(connection, path)
                self.count["lists"] += 1
                text = (body or b"").decode()
                target = int(re.search(r"^#EXT-X-TARGETDURATION:(\d+)$", text, re.M).group(1)) if text else 1
                first = int(re.search(r"^#EXT-X-MEDIA-SEQUENCE:(\d+)$", text, re.M).group(1)) if text else 0
                names = re.findall(r"^[^#\n]+$", text, re.M)
                maps = re.findall(r'^#EXT-X-MAP:URI="(.*)"$', text, re.M)
                if maps and maps[-1] != initialization:
                    initialization = maps[-1]
                    await self.fetch(connection, folder + initialization)
                if last is None and names:
                    last = first + max(0, len(names) - FROM_END) - 1
                for number, name in enumerate(names, first):
                    if number > last:
                        if number > last + 1:
                            self.faults["a segment that was missed"] += 1
                        last = number
                        if await self.fetch(connection, folder + name):
                            self.count["segments"] += 1
                # Section 6.3.4.
                pause = target if text != known else target / 2
                known = text
                await asyncio.sleep(max(0, min(begin + pause, deadline) - time.monotonic()))
        except (OSError, asyncio.IncompleteReadError) as error:
            self.faults["a connection that broke off: %r" % error] += 1
        finally:
            connection.close()


async def main():
    count, seconds, secret, playlist, *edges = sys.argv[1:]
    count, expires = int(count), int(time.time()) + DAY
    statuses = []
    for signature in (sign(expires, playlist, "not " + secret), sign(1, playlist, secret),
                      sign(expires, playlist + "-2", secret)):
        connection = Connection(edges[0])
        statuses.append((await connection.get(link(playlist, signature)))[0])
        connection.close()
    valid = link(playlist, sign(expires, playlist, secret))
    print(json.dumps({"event": "refused", "statuses": statuses, "link": valid}), flush=True)
    players, deadline = Players(), time.monotonic() + float(seconds)

    async def begin(number):
        # They don't all come at once.
        await asyncio.sleep(random.random())
        path = link(playlist, sign(expires + number, playlist, secret))
        await players.play(edges[number % len(edges)], path, deadline)

    await asyncio.gather(*[begin(number) for number in range(count)])
    print(json.dumps({"event": "done", **players.count, "faults": players.faults,
                      "caching": {kind: sorted(found) for kind, found in players.caching.items()}}), flush=True)


hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
asyncio.run(main())
