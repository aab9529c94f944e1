"""A WHIP endpoint that behaves like one of several other servers: HTTP by aiohttp, WebRTC by aiortc.

    whip_habits.py HABIT [LINK]

`pli` and `fir` ask for a key frame every 2 s, by these messages, and `joins` for each of two viewers who join 300 ms apart, three
times; the others ask for none, whatever they miss. `bridge` drops all packets of pictures before the second sender report, `mute` sends
no RTCP at all, and `link` names LINK in its answer.

Prints one JSON object per line: where it listens (`listening` with its `port`), that it was asked to end a session (`left`), after how
many `milliseconds` a key frame began for a viewer of `joins` (`answered`), and what receiving.py says. It ends, without closing its
sessions, when its standard input ends.
"""

import asyncio
import struct
import sys
import time

import receiving
from aiohttp import web
from aiortc.rtcrtpreceiver import RTCRtpReceiver
from aiortc.rtp import RtcpPsfbPacket, RtcpSrPacket

habit = sys.argv[1]
requests = {"count": 0}
#: When the viewers joined who have no key frame yet.
waiting = []


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


def begins_key_frame(payload):
    """Whether an RTP payload of H.264 begins with an SPS, alone or in a STAP-A, as each key frame does."""
    kinds = [payload[place] & 31 for place in (0, 3) if place < len(payload)]
    return kinds[:1] == [7] or kinds == [24, 7]


if habit == "joins":
    take_any = RTCRtpReceiver._handle_rtp_packet

    async def note(self, packet, arrival_time_ms):
        # Packets that are sent again have another payload type.
        codec = self._RTCRtpReceiver__codecs.get(packet.payload_type)
        if waiting and codec and codec.name == "H264" and begins_key_frame(packet.payload):
            now = time.monotonic()
            for since in waiting:
                receiving.say("answered", milliseconds=int((now - since) * 1000))
            waiting.clear()
        await take_any(self, packet, arrival_time_ms)

    RTCRtpReceiver._handle_rtp_packet = note


def video_receiver(connection):
    return next(part.receiver for part in connection.getTransceivers() if part.kind == "video")


async def join(connection):
    receiver = video_receiver(connection)
    await asyncio.sleep(3)
    for _ in range(3):
        for _ in range(2):
            waiting.append(time.monotonic())
            for source in receiver.getSynchronizationSources():
                await send_pli(receiver, source.source)
            await asyncio.sleep(0.3)
        await asyncio.sleep(2.5)


async def demand(connection):
    receiver = video_receiver(connection)
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
    if habit == "joins":
        asyncio.ensure_future(join(connection))
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
