"""What the servers that are published to have in common: WebRTC by aiortc, whose pictures are decoded and counted.

They say, one JSON object a line, pictures of a session as they are decoded (`pictures`, with how many there were, how many packets were
only padding, their size, and how bright they are at the places that the variable PLACES names, as in `3,4 5,6`), and its sound
(`sound`, with how many packets). `answer` may name a file for the sound: 16 bits a sample, 48,000 times a second, in two channels.
With a witness (witness.py) they say neither.
"""

import asyncio
import json
import os
import sys

import aioice.ice
from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from witness import LOOPBACK, witness

# aioice leaves loopback out; who tests on one machine has nothing else for sure.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [LOOPBACK]


PLACES = [tuple(map(int, place.split(","))) for place in os.environ.get("PLACES", "").split()]


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


padding = 0
handle = RTCRtpReceiver._handle_rtp_packet


async def count_padding(self, packet, arrival_time_ms):
    global padding
    if not packet.payload:
        padding += 1
    await handle(self, packet, arrival_time_ms)


RTCRtpReceiver._handle_rtp_packet = count_padding


async def watch(track, heard=None):
    count = 0
    try:
        while True:
            frame = await track.recv()
            count += 1
            if witness:
                witness.take(frame, track.kind)
                continue
            if track.kind == "video":
                plane = frame.planes[0]
                luma = [memoryview(plane)[y * plane.line_size + x] for x, y in PLACES]
                key = bool(frame.key_frame)
                say("pictures", count=count, padding=padding, width=frame.width, height=frame.height, key=key, luma=luma)
                continue
            if heard:
                with open(heard, "ab") as file:
                    # The plane has room for the longest packet.
                    file.write(bytes(frame.planes[0])[: 4 * frame.samples])
            if count in (1, 50):
                say("sound", count=count)
    except MediaStreamError:
        say("ended", kind=track.kind)


async def answer(offer, heard=None):
    """Takes a session; returns its connection, which has the answer."""
    connection = RTCPeerConnection()
    connection.on("track", lambda track: asyncio.ensure_future(watch(track, heard)) and None)
    await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
    await connection.setLocalDescription(await connection.createAnswer())
    return connection


async def serve(application, port):
    """Serves until the end of the standard input, and then ends without a word to anybody."""
    from aiohttp import web

    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, LOOPBACK, port, reuse_address=True)
    await site.start()
    say("listening", port=site._server.sockets[0].getsockname()[1])
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)
