"""Answers an offer by WebRTC, as a server does that receives pictures: aiortc, whose ICE is a full agent.

Its standard input is the offer, as one JSON string; then it waits for its end. Says what happens, one JSON object a line:
`answer` with its description, `state` for each state of the connection, and `packets` once packets of pictures have come.
"""

import asyncio
import json
import sys

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

# aioice leaves loopback out; who tests on one machine has nothing else for sure.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]


def say(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


async def main():
    lines = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connection.on("connectionstatechange", lambda: say("state", state=connection.connectionState))
    offer = json.loads(await lines.readline())
    await connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
    await connection.setLocalDescription(await connection.createAnswer())
    say("answer", sdp=connection.localDescription.sdp)
    ended = asyncio.ensure_future(lines.readline())
    while not ended.done():
        await asyncio.wait([ended], timeout=0.05)
        stats = await connection.getStats()
        packets = sum(part.packetsReceived for part in stats.values() if part.type == "inbound-rtp")
        if packets:
            say("packets", count=packets)
            break
    await ended
    await connection.close()


asyncio.run(main())
