"""A WHIP endpoint that behaves like one of several other servers: HTTP by aiohttp, WebRTC by aiortc.

    whip_habits.py HABIT [LINK]

`pli` and `fir` ask for a key frame every 2 s, by these messages; the others ask for none, whatever they miss. `bridge` drops all
packets of pictures before the second sender report, `mute` sends no RTCP at all, and `link` names LINK in its answer.

Prints one JSON object per line: where it listens (`listening` with its `port`), that it was asked to end a session (`left`), and what
receiving.py says. It ends, without closing its sessions, when its standard input ends.
"""

import asyncio
import struct
import sys

import receiving
from aiohttp import web
from aiortc.rtcrtpreceiver import RTCRtpReceiver
from aiortc.rtp import RtcpPsfbPacket, RtcpSrPacket

habit = sys.argv[1]
requests = {"count": 0}


async def silence(*_):
    pass


send_pli, send = RTCRtpReceiver._send_rtcp_pli, RTCRtpReceiver._send_rtcp
RTCRtpReceiver._send_rtcp_pli = silence
if habit == "mute":
    RTCRtpReceiver._send_rtcp = silence
if habit == "bridge":
    reports = {}
    take, report = RTCRtpReceiver._handle_rtp_packet, RTCRtpReceiver._handle_rtcp_packet

    async def count(self, packet):
        if isinstance(packet, RtcpSrPacket):
            reports[packet.ssrc] = reports.get(packet.ssrc, 0) + 1
        await report(self, packet)

    async def take_known(self, packet, arrival_time_ms):
        if reports.get(packet.ssrc, 0) >= 2:
            await take(self, packet, arrival_time_ms)

    RTCRtpReceiver._handle_rtcp_packet, RTCRtpReceiver._handle_rtp_packet = count, take_known


async def demand(connection):
    receiver = next(part.receiver for part in connection.getTransceivers() if part.kind == "video")
    while True:
        await asyncio.sleep(2)
        for source in receiver.getSynchronizationSources():
            requests["count"] += 1
            if habit == "pli":
                await send_pli(receiver, source.source)
            else:
                order = struct.pack("!IBBBB", source.source, requests["count"] & 255, 0, 0, 0)
                await send(receiver, RtcpPsfbPacket(fmt=4, ssrc=1, media_ssrc=0, fci=order))


async def publish(request):
    connection = await receiving.answer(await request.text())
    if habit in ("pli", "fir"):
        asyncio.ensure_future(demand(connection))
    headers = {"Location": "/session"}
    if habit == "link":
        headers["Link"] = sys.argv[2]
    return web.Response(
        status=201, text=connection.localDescription.sdp, content_type="application/sdp", headers=headers)


async def leave(request):
    receiving.say("left")
    return web.Response()


application = web.Application()
application.add_routes([web.post("/whip", publish), web.delete("/session", leave)])
asyncio.run(receiving.serve(application, 0))
