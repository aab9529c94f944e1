"""A viewer of pictures and sound over the WebSocket, after `Protocol/rooms.md` alone.

    frames_client.py ADDRESS ROOM FILE

It joins, asks for the pictures of the first track, writes their access units to FILE one after the other, and confirms
each. Says what happens, one JSON object a line: `begun`, each `picture` and each `sound` with what its header says, and
the packet of sound in hexadecimal, `event` for other messages. Commands on standard input: `stall` (reads on, but
confirms nothing), `freeze` (reads nothing), `go`, `key`, `sound` and `silence` (asks for the sound, and for no more of
it), `stop`; its end ends the client.
"""

import asyncio
import json
import struct
import sys

import websockets


def say(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


class Viewer:
    def __init__(self, socket, path):
        self.socket = socket
        self.file = open(path, "wb")
        self.last = 0
        self.heard = 0
        self.confirms = True
        self.reads = asyncio.Event()
        self.reads.set()

    async def send(self, event, **data):
        await self.socket.send(json.dumps({"eventName": event, "data": data}))

    async def run(self, room):
        await self.send("__join", room=room, role="viewer")
        while True:
            await self.reads.wait()
            message = await self.socket.recv()
            if isinstance(message, str):
                await self.hear(json.loads(message))
            else:
                await self.take(message)

    async def hear(self, message):
        name, data = message["eventName"], message.get("data", {})
        if name == "_peers":
            await self.send("__frames")
        elif name == "_frames":
            say("begun", **data)
        else:
            say("event", name=name, data=data)

    async def take(self, message):
        version, flags, zero, number, time = struct.unpack(">BBHIQ", message[:16])
        picture = message[16:]
        if flags == 4:
            return await self.listen(version, zero, number, time, picture)
        if (version, zero) != (1, 0) or flags > 3 or not picture.startswith(b"\0\0\0\1") or number <= self.last:
            say("wrong", header=list(message[:20]))
        self.last = number
        self.file.write(picture)
        self.file.flush()
        say("picture", number=number, key=bool(flags & 1), pointer=bool(flags & 2), time=time, count=len(picture))
        if self.confirms:
            await self.send("__frames_seen", number=number)

    async def listen(self, version, zero, number, time, packet):
        if (version, zero) != (1, 0) or number != self.heard + 1 or not packet:
            say("wrong", number=number)
        self.heard = number
        say("sound", number=number, time=time, packet=packet.hex())
        if self.confirms:
            await self.send("__frames_heard", number=number)

    async def obey(self, line):
        if line == "stall":
            self.confirms = False
        elif line == "freeze":
            self.reads.clear()
        elif line == "go":
            self.confirms = True
            self.reads.set()
            if self.last:
                await self.send("__frames_seen", number=self.last)
            if self.heard:
                await self.send("__frames_heard", number=self.heard)
        elif line in ("sound", "silence"):
            await self.send("__frames_sound", on=line == "sound")
        elif line in ("key", "stop"):
            await self.send(f"__frames_{line}")
        say("obeyed", command=line)


async def main(address, room, path):
    async with websockets.connect(address, max_size=None, compression=None) as socket:
        viewer = Viewer(socket, path)
        work = asyncio.create_task(viewer.run(room))
        work.add_done_callback(lambda task: say("closed", why=str(task.exception()) if not task.cancelled() else ""))
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            await viewer.obey(line.strip())
        work.cancel()


asyncio.run(main(*sys.argv[1:]))
