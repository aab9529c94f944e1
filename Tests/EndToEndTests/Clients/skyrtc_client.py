"""A SkyRTC client after the protocol's text alone: {"eventName": ..., "data": ...} over a WebSocket, aiortc as its WebRTC.

It joins, offers to everybody in the list it gets, and answers who comes later. To the host it offers to receive a video; to
other clients a moving picture of its own and a data channel. Candidates go one by one, as events of their own, also those
that come before what they belong to.

With a witness (witness.py) it listens to the host, too. Says what happens, one JSON object a line; "quit" on standard input, or its end, ends it.
"""

import argparse
import asyncio
import json
import sys

import aioice.ice
import av
import websockets
from aiortc import RTCPeerConnection, RTCSessionDescription, VideoStreamTrack, rtcdtlstransport
from aiortc.mediastreams import MediaStreamError
from aiortc.sdp import candidate_from_sdp
from witness import LOOPBACK, witness

# aioice leaves loopback out; who tests on one machine has nothing else for sure.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [LOOPBACK]


def say(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


class MovingPicture(VideoStreamTrack):
    """A grey picture that changes with each frame."""

    async def recv(self):
        pts, time_base = await self.next_timestamp()
        frame = av.VideoFrame(320, 240, "yuv420p")
        for plane, value in zip(frame.planes, ((pts // 3000 * 4) % 200 + 20, 128, 128)):
            plane.update(bytes([value]) * plane.buffer_size)
        frame.pts = pts
        frame.time_base = time_base
        return frame


class Peer:
    """One connection: to the host, or to another client."""

    def __init__(self, client, peer_id):
        self.client = client
        self.id = peer_id
        self.is_host = peer_id == client.host
        self.early = []
        self.connection = RTCPeerConnection()
        self.connection.on("track", self.watch)
        self.connection.on("datachannel", self.talk)
        self.connection.on("connectionstatechange", self.changed)

    def changed(self):
        say("state", peer=self.id, state=self.connection.connectionState)

    def watch(self, track):
        if track.kind == "video" or witness:
            self.client.start(self.count(track))

    async def count(self, track):
        frames = 0
        try:
            while True:
                frame = await track.recv()
                frames += 1
                if witness:
                    witness.take(frame, track.kind)
                elif frames in (1, 5) or frames % 20 == 0:
                    say("video", peer=self.id, frames=frames, width=frame.width, height=frame.height)
        except MediaStreamError:
            say("video_ended", peer=self.id, frames=frames)

    def talk(self, channel):
        channel.on("message", lambda text: say("message", peer=self.id, text=json.loads(text).get("data")))
        if channel.readyState == "open":
            self.greet(channel)
        else:
            channel.on("open", lambda: self.greet(channel))

    def greet(self, channel):
        # What the JavaScript client sends as a line of a conversation.
        channel.send(json.dumps({"type": "__msg", "data": f"hello from {self.client.me}"}))

    async def offer(self):
        if self.is_host:
            self.connection.addTransceiver("video", direction="recvonly")
            if witness:
                self.connection.addTransceiver("audio", direction="recvonly")
        else:
            self.connection.addTrack(MovingPicture())
            if not self.client.pictures_only:
                self.talk(self.connection.createDataChannel("undefined"))
        await self.connection.setLocalDescription(await self.connection.createOffer())
        await self.send_description("__offer")

    async def answer(self, sdp):
        if not self.connection.getTransceivers():
            self.connection.addTrack(MovingPicture())
        await self.take(sdp)
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        await self.send_description("__answer")

    async def take(self, sdp):
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp["sdp"], sdp["type"]))
        early, self.early = self.early, []
        for data in early:
            await self.candidate(data)

    async def candidate(self, data):
        if self.connection.remoteDescription is None:
            self.early.append(data)
            return
        candidate = candidate_from_sdp(data["candidate"].split(":", 1)[-1])
        candidate.sdpMLineIndex = data.get("label")
        candidate.sdpMid = data.get("id")
        await self.connection.addIceCandidate(candidate)

    async def send_description(self, event):
        """The description without its candidates, and then those."""
        local = self.connection.localDescription
        lines, candidates, media = [], [], -1
        for line in local.sdp.splitlines():
            if line.startswith("m="):
                media += 1
            if line.startswith("a=candidate:"):
                candidates.append({"label": media, "candidate": line[2:]})
            elif line != "a=end-of-candidates":
                lines.append(line)
        sdp = "\r\n".join(lines) + "\r\n"
        await self.client.send(event, {"sdp": {"type": local.type, "sdp": sdp}, "socketId": self.id})
        for candidate in candidates:
            if candidate["label"] == 0:
                await self.client.send("__ice_candidate", {**candidate, "socketId": self.id})


class Client:
    def __init__(self, socket, options):
        self.socket = socket
        self.binary = options.binary
        self.pictures_only = options.pictures_only
        self.me = self.host = None
        self.peers = {}
        self.tasks = set()

    def start(self, work):
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def send(self, event, data):
        text = json.dumps({"eventName": event, "data": data})
        await self.socket.send(text.encode() if self.binary else text)

    async def run(self, room):
        await self.send("__join", {"room": room})
        try:
            async for text in self.socket:
                if not isinstance(text, str):
                    say("binary")
                    continue
                message = json.loads(text)
                await self.receive(message["eventName"], message.get("data", {}))
        except websockets.ConnectionClosed:
            pass
        say("closed", code=self.socket.close_code)

    async def receive(self, event, data):
        peer_id = data.get("socketId")
        if event == "_peers":
            self.me, self.host = data["you"], data.get("host")
            say("joined", you=self.me, host=self.host, connections=data["connections"])
            for other in data["connections"]:
                self.peers[other] = Peer(self, other)
                await self.peers[other].offer()
        elif event == "_new_peer":
            self.peers[peer_id] = Peer(self, peer_id)
            say("new_peer", peer=peer_id)
        elif event == "_remove_peer":
            say("remove_peer", peer=peer_id)
            if peer := self.peers.pop(peer_id, None):
                await peer.connection.close()
        elif event == "_offer" and peer_id in self.peers:
            say("offer", peer=peer_id)
            await self.peers[peer_id].answer(data["sdp"])
        elif event == "_answer" and peer_id in self.peers:
            say("answer", peer=peer_id)
            await self.peers[peer_id].take(data["sdp"])
        elif event == "_ice_candidate" and peer_id in self.peers:
            say("candidate", peer=peer_id)
            await self.peers[peer_id].candidate(data)
        else:
            say("other", name=event, data=data)


async def read_commands():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line.strip() == b"quit":
            return


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address", help="ws://HOST:PORT/ws")
    parser.add_argument("room", help="ROOM,TOKEN")
    parser.add_argument("--binary", action="store_true", help="send binary frames")
    parser.add_argument("--pictures-only", action="store_true", help="offer no data channel")
    parser.add_argument("--counter-mode", action="store_true", help="offer only AES-CM with HMAC-SHA1 for SRTP")
    options = parser.parse_args()
    if options.counter_mode:
        rtcdtlstransport.SRTP_PROFILES[:] = [rtcdtlstransport.SRTP_AES128_CM_SHA1_80]
    async with websockets.connect(options.address) as socket:
        client = Client(socket, options)
        stay = asyncio.create_task(client.run(options.room))
        commands = asyncio.create_task(read_commands())
        await asyncio.wait([stay, commands], return_when=asyncio.FIRST_COMPLETED)
        if stay.done():
            stay.result()
    for peer in client.peers.values():
        await peer.connection.close()


asyncio.run(main())
