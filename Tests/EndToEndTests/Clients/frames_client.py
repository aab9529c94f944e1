"""A viewer of pictures and sound over the WebSocket, after `Protocol/rooms.md` alone.

    frames_client.py ADDRESS ROOM [FILE]

It joins, asks for the pictures of the first track, writes their access units to FILE one after the other, and confirms
each. The variable TRACK names another track. With the variable MIDDLE, pictures are decoded besides, and `picture` has
the YCbCr values of the `middle`, and when it was `decoded`, in nanoseconds of CLOCK_MONOTONIC. Without FILE, a witness
(witness.py) gets what libavcodec decodes of pictures and sound. Any certificate is taken.

Says what happens, one JSON object a line: `begun`, each `picture` and each `sound` with what its header says, and
the packet of sound in hexadecimal, `event` for other messages. Commands on standard input: `stall` (reads on, but
confirms nothing), `freeze` (reads nothing), `go`, `key`, `sound` and `silence` (asks for the sound, and for no more of
it), `stop`; its end ends the client.
"""

import asyncio
import json
import os
import ssl
import struct
import sys
import time

import av
import websockets
from witness import witness


def say(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


class Viewer:
    def __init__(self, socket, path=None):
        self.socket = socket
        self.file = open(path, "wb") if path else None
        self.pictures = av.CodecContext.create("h264", "r")
        self.pictures.flags |= av.codec.context.Flags.low_delay
        self.sounds = av.CodecContext.create("libopus", "r")
        self.resampler = av.AudioResampler(format="s16", layout="stereo", rate=48000)
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
            track = {"track": os.environ["TRACK"]} if "TRACK" in os.environ else {}
            await self.send("__frames", **track)
        elif name == "_frames":
            say("begun", **data)
            if witness:
                await self.send("__frames_sound", on=True)
        else:
            say("event", name=name, data=data)

    async def take(self, message):
        version, flags, zero, number, captured = struct.unpack(">BBHIQ", message[:16])
        picture = message[16:]
        if flags == 4:
            return await self.listen(version, zero, number, captured, picture)
        if (version, zero) != (1, 0) or flags > 3 or not picture.startswith(b"\0\0\0\1") or number <= self.last:
            say("wrong", header=list(message[:20]))
        self.last = number
        if self.file:
            self.file.write(picture)
            self.file.flush()
            say("picture", number=number, key=bool(flags & 1), pointer=bool(flags & 2), time=captured,
                count=len(picture), **self.look(picture))
        else:
            for frame in self.pictures.decode(av.Packet(picture)):
                witness.see(frame)
        if self.confirms:
            await self.send("__frames_seen", number=number)

    def look(self, picture):
        """What is seen of a picture; nothing unless that is asked for."""
        frames = self.pictures.decode(av.Packet(picture)) if "MIDDLE" in os.environ else []
        if not frames:
            return {}
        planes = frames[-1].planes
        middle = [memoryview(one)[one.height // 2 * one.line_size + one.width // 2] for one in planes]
        return {"middle": middle, "decoded": time.monotonic_ns()}

    async def listen(self, version, zero, number, captured, packet):
        if (version, zero) != (1, 0) or number != self.heard + 1 or not packet:
            say("wrong", number=number)
        self.heard = number
        if self.file:
            say("sound", number=number, time=captured, packet=packet.hex())
        else:
            for frame in self.sounds.decode(av.Packet(packet)):
                for resampled in self.resampler.resample(frame):
                    witness.hear(resampled)
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


async def main(address, room, path=None):
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if address.startswith("wss") else None
    if trust:
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    async with websockets.connect(address, max_size=None, compression=None, ssl=trust) as socket:
        viewer = Viewer(socket, path)
        work = asyncio.create_task(viewer.run(room))
        work.add_done_callback(lambda task: say("closed", why=str(task.exception()) if not task.cancelled() else ""))
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            await viewer.obey(line.strip())
        work.cancel()


asyncio.run(main(*sys.argv[1:]))
