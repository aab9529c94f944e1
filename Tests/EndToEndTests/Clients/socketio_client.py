"""A client of one-to-one rooms, as avdance's web client is one: python-socketio speaks Engine.IO and socket.io, aiortc WebRTC.

With a witness (witness.py) it listens, too. Says what happens, one JSON object a line. Takes commands by lines: `leave`, `disconnect`.
"""

import argparse
import asyncio
import json
import sys

import aioice.ice
import socketio
from aiortc import RTCPeerConnection, RTCSessionDescription
from witness import LOOPBACK, witness

arguments = argparse.ArgumentParser()
arguments.add_argument("--url", required=True)
arguments.add_argument("--room", required=True)
arguments.add_argument("--transport", action="append", required=True)
arguments.add_argument("--origin", help="send this Origin header")
options = arguments.parse_args()


if witness:
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [LOOPBACK]


def say(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


class Client:
    """The states are the original client's: init, joined, joined_conn, joined_unbind, leaved."""

    def __init__(self):
        self.socket = socketio.AsyncClient(reconnection=False)
        self.state = "init"
        self.peer = None
        self.ended = asyncio.Event()
        self.tasks = []
        for name in ["joined", "otherjoin", "other_joined", "full", "leaved", "bye", "message", "connect", "disconnect"]:
            self.socket.on(name, getattr(self, "on_" + name))

    async def run(self):
        headers = {"Origin": options.origin} if options.origin else {}
        try:
            await self.socket.connect(options.url, headers=headers, transports=options.transport)
        except socketio.exceptions.ConnectionError as error:
            say("refused", reason=str(error))
            return
        reader = asyncio.create_task(self.read_commands())
        await self.ended.wait()
        reader.cancel()
        await self.hang_up()
        await self.socket.disconnect()
        say("end", state=self.state)

    async def read_commands(self):
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            match line.decode().strip():
                case "leave":
                    await self.socket.emit("leave", options.room)
                case "disconnect":
                    await self.socket.disconnect()
                case "hang up":
                    await self.hang_up()

    async def on_connect(self):
        say("connected", transport=self.socket.transport())
        await self.socket.emit("join", options.room)

    async def on_disconnect(self, *_):
        say("disconnected", state=self.state)
        self.ended.set()

    async def on_joined(self, room, me):
        self.state = "joined"
        self.make_peer()
        say("joined", room=room, id=me, transport=self.socket.transport())

    async def on_otherjoin(self, room, other):
        if self.state == "joined_unbind":
            self.make_peer()
        self.state = "joined_conn"
        say("otherjoin", room=room, id=other)
        self.peer.addTransceiver("video", direction="recvonly")
        if witness:
            self.peer.addTransceiver("audio", direction="recvonly")
        await self.peer.setLocalDescription(await self.peer.createOffer())
        await self.send_description()

    async def on_other_joined(self, room, other):
        say("other_joined", room=room, id=other)

    async def on_full(self, room, me):
        self.state = "leaved"
        say("full", room=room, id=me)
        self.ended.set()

    async def on_leaved(self, room, me):
        self.state = "leaved"
        say("leaved", room=room, id=me)
        self.ended.set()

    async def on_bye(self, room, other):
        self.state = "joined_unbind"
        say("bye", room=room, id=other)
        await self.hang_up()

    async def on_message(self, room, data):
        say("message", room=room, type=data["type"])
        if data["type"] not in ("offer", "answer"):
            return
        await self.peer.setRemoteDescription(RTCSessionDescription(data["sdp"], data["type"]))
        if data["type"] == "offer":
            await self.peer.setLocalDescription(await self.peer.createAnswer())
            await self.send_description()

    async def send_description(self):
        description = self.peer.localDescription
        await self.socket.emit("message", (options.room, {"type": description.type, "sdp": description.sdp}))
        # As the web client has them, with a number, and as the iOS client has them, with its digits.
        lines = [line[2:] for line in description.sdp.splitlines() if line.startswith("a=candidate:")]
        for index, line in enumerate(lines):
            data = {"type": "candidate", "label": [0, "0"][index % 2], "id": "0", "candidate": line}
            await self.socket.emit("message", (options.room, data))
        say("described", type=description.type, candidates=len(lines))

    def make_peer(self):
        self.peer = RTCPeerConnection()
        peer = self.peer

        @peer.on("track")
        def on_track(track):
            self.tasks.append(asyncio.create_task(self.watch(track)))

        @peer.on("connectionstatechange")
        async def on_state():
            say("peer", state=peer.connectionState)

    async def watch(self, track):
        count = 0
        try:
            while True:
                frame = await track.recv()
                count += 1
                if witness:
                    witness.take(frame, track.kind)
                elif count == 1 or count % 10 == 0:
                    say("frame", count=count, width=frame.width, height=frame.height)
        except Exception as error:  # aiortc ends a track by an exception without words
            say("track-end", count=count, error=type(error).__name__)

    async def hang_up(self):
        if self.peer:
            peer, self.peer = self.peer, None
            await peer.close()


async def main():
    await Client().run()


asyncio.run(main())
