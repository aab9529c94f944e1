"""A SkyRTC server after the protocol's text alone: rooms, and messages from one member to another.

A client's events begin with two underscores, the server's with one; whom a client names as `socketId` gets the event with
the sender's. The candidate's `id` is left out, as the original server does. Says what happens, one JSON object a line;
the end of standard input ends it.
"""

import argparse
import asyncio
import json
import sys
import uuid

import websockets
from witness import LOOPBACK


def say(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


class Server:
    def __init__(self, options):
        self.rooms = {}
        self.options = options

    async def send(self, socket, event, data):
        await socket.send(json.dumps({"eventName": event, "data": data}))

    async def serve(self, socket):
        me, room = str(uuid.uuid4()), None
        say("connected", path=socket.request.path)
        try:
            async for text in socket:
                message = json.loads(text)
                event, data = message["eventName"], message["data"]
                if event == "__join":
                    room = data.get("room") or "__default"
                    members = self.rooms.setdefault(room, {})
                    for other in members.values():
                        await self.send(other, "_new_peer", {"socketId": me})
                    await self.send(socket, "_peers", {"connections": list(members), "you": me})
                    members[me] = socket
                    say("join", room=room, id=me, members=len(members))
                    if self.options.oversized:
                        await self.send(socket, "_news", {"text": "x" * self.options.oversized})
                elif event in ("__offer", "__answer", "__ice_candidate") and room:
                    say("relay", name=event, sender=me, to=data.get("socketId"))
                    target = self.rooms[room].get(data.get("socketId"))
                    relayed = {name: data[name] for name in ("sdp", "label", "candidate") if name in data}
                    if target:
                        await self.send(target, event[1:], {**relayed, "socketId": me})
        except websockets.ConnectionClosed:
            pass
        if room:
            members = self.rooms[room]
            del members[me]
            say("leave", room=room, id=me, members=len(members))
            for other in list(members.values()):
                try:
                    await self.send(other, "_remove_peer", {"socketId": me})
                except websockets.ConnectionClosed:
                    pass


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--oversized", type=int, help="tell who joins a message of so many bytes, too")
    options = parser.parse_args()
    server = Server(options)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with websockets.serve(server.serve, LOOPBACK, options.port):
        say("listening")
        await reader.read()


asyncio.run(main())
