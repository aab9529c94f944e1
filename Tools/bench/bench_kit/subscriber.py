"""A subscriber in a room of Janus' VideoRoom: usage: subscriber URL ADDRESS ROOM PIN TOKEN [count].

WebSocket by websockets, WebRTC by aiortc at ADDRESS, in the environment of the tests' clients that Tools/python makes.
It asks for the room's publisher until there is one, and decodes what that sends. Whenever the server goes, it begins
anew. It says, one JSON object a line: "room" when the server has told who is in the room, "subscribed", "connected"
when its handshake is over, and "pictures" with their count since then. With `count` it decodes nothing, and counts the
pictures that arrive, from the first packet of a key frame on. To a line "look" of standard input it says "look" with the
count of `pictures` and of packets that are `missing`. The end of standard input ends it.
"""

import asyncio
import json
import re
import sys

import aioice.ice
import aiortc.rtcrtpreceiver
import websockets
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

PLUGIN = "janus.plugin.videoroom"
#: Seconds between two tries to connect, and between two questions for a publisher.
PAUSE = 0.02


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


class Session:
    """One at the server, over a WebSocket."""

    def __init__(self, socket, token):
        self.socket, self.common, self.count, self.is_over = socket, {"token": token}, 0, False
        self.pictures, self.receiver, self.counter = 0, None, Counter(self)

    async def ask(self, kind, **words):
        """Gives the answer, or the event that follows an `ack`."""
        self.count += 1
        transaction = str(self.count)
        await self.socket.send(json.dumps({"janus": kind, "transaction": transaction, **self.common, **words}))
        while True:
            answer = json.loads(await self.socket.recv())
            if answer.get("transaction") == transaction and answer["janus"] != "ack":
                if answer["janus"] == "error":
                    sys.exit("Janus refuses: %s" % answer["error"])
                return answer

    async def begin(self):
        self.common["session_id"] = (await self.ask("create"))["data"]["id"]
        self.common["handle_id"] = (await self.ask("attach", plugin=PLUGIN))["data"]["id"]

    async def message(self, jsep=None, **body):
        more = {"jsep": jsep} if jsep else {}
        answer = await self.ask("message", body=body, **more)
        return answer["plugindata"]["data"], answer.get("jsep")


    def take_picture(self):
        if not self.is_over:
            self.pictures += 1
            say("pictures", count=self.pictures)

    async def look(self):
        statistics = await self.receiver.getStats() if self.receiver else {}
        say("look", pictures=self.pictures, missing=sum(
            one.packetsLost for one in statistics.values() if one.type == "inbound-rtp"))


class NoDecoder:
    def decode(self, frame):
        return []


class Counter:
    """Counts the pictures of one life by their packets: the first one counts from the first packet of a key frame on, and
    each further one once its last packet is there."""

    def __init__(self, session):
        self.session, self.source = session, None

    def take(self, packet):
        if self.source is None and begins_key_frame(packet.payload):
            self.source = packet.ssrc
            self.session.take_picture()
        elif packet.marker and packet.ssrc == self.source:
            self.session.take_picture()


def begins_key_frame(payload):
    """Whether a payload of RTP (RFC 6184) begins with parameter sets or with a picture that needs no other one."""
    kind = payload[0] & 31 if payload else 0
    if kind == 24 and len(payload) > 3:
        kind = payload[3] & 31
    elif kind == 28 and len(payload) > 1 and payload[1] & 128:
        kind = payload[1] & 31
    return kind in (5, 7)


def count_only(current):
    """Has receivers decode nothing, and tell the counter of `current`'s session of each packet."""
    handle = RTCRtpReceiver._handle_rtp_packet

    async def take(receiver, packet, *more, **words):
        current[0].counter.take(packet)
        await handle(receiver, packet, *more, **words)

    RTCRtpReceiver._handle_rtp_packet = take
    aiortc.rtcrtpreceiver.get_decoder = lambda codec: NoDecoder()


async def watch(track, session):
    try:
        while not session.is_over:
            await track.recv()
            session.take_picture()
    except MediaStreamError:
        pass


def with_profile(sdp):
    """An offer that names the profile of H.264. Janus 1.1.2 doesn't know it of a remote publisher, and takes no
    `h264_profile` for one."""
    if "profile-level-id" in sdp:
        return sdp
    return re.sub(r"a=rtpmap:(\d+) H264/90000\r\n",
                  r"\g<0>a=fmtp:\1 profile-level-id=42e01f;packetization-mode=1\r\n", sdp)


async def subscribe(session, room, pin):
    """Gives a connection that receives what the room's publisher sends."""
    has_told = False
    while True:
        data, _ = await session.message(request="listparticipants", room=room)
        if not has_told:
            say("room")
            has_told = True
        publishers = [one["id"] for one in data.get("participants", []) if one.get("publisher")]
        if publishers:
            data, offer = await session.message(
                request="join", ptype="subscriber", room=room, pin=pin, streams=[{"feed": publishers[0]}])
            if offer:
                break
        await asyncio.sleep(PAUSE)
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connection.on("connectionstatechange", lambda: connection.connectionState == "connected" and say("connected"))
    connection.on("track", lambda track: asyncio.ensure_future(watch(track, session)) and None)
    await connection.setRemoteDescription(RTCSessionDescription(with_profile(offer["sdp"]), "offer"))
    session.receiver = connection.getReceivers()[0]
    await connection.setLocalDescription(await connection.createAnswer())
    await session.message(request="start", jsep={"type": "answer", "sdp": connection.localDescription.sdp})
    say("subscribed")
    return connection


async def stay(url, room, pin, token, current):
    """One life of the server's; `current` gets its session."""
    connection = None
    async with websockets.connect(url, subprotocols=["janus-protocol"], open_timeout=2, close_timeout=0.1) as socket:
        session = current[0] = Session(socket, token)
        await session.begin()
        try:
            connection = await subscribe(session, room, pin)
            async for _ in socket:
                pass
        finally:
            session.is_over = True
            if connection:
                # It waits for nobody who is gone.
                asyncio.ensure_future(connection.close())


async def go_on(*life):
    while True:
        try:
            await stay(*life)
        except (OSError, asyncio.TimeoutError, websockets.WebSocketException):
            pass
        await asyncio.sleep(PAUSE)


async def answer(reader, current):
    while line := await reader.readline():
        if line.strip() == b"look" and current[0]:
            await current[0].look()


async def main():
    url, address, room, pin, token, *words = sys.argv[1:]
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [address]
    reader, current = asyncio.StreamReader(), [None]
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    if "count" in words:
        count_only(current)
    tasks = [asyncio.ensure_future(go_on(url, int(room), pin, token, current)),
             asyncio.ensure_future(answer(reader, current))]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
