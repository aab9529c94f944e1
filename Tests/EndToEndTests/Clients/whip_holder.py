"""A WHIP endpoint that behaves like other servers: it holds the name of a publisher that has vanished, and waits for packets of every
section that was offered.

    whip_holder.py PORT TOKEN

`/HABIT/NAME` takes one session at a time for a name. Until HOLD seconds (30 unless the environment says so) after the last datagram of
a publisher who didn't send DELETE, and at least once, it refuses others there as HABIT says:

    409      with that status, as OvenMediaEngine does
    403      with that status and words, as simple-whip-server does; without the token, with the same status and other words
    wordless with 403 and no words, also without the token
    silent   by closing the connection, as SRS does

A session that has no packet of a section that it offered TIMEOUT seconds (10 unless the environment says so) after it was connected
is ended, as by LiveKit's ingress; sections that start later are reported as well.

Prints one JSON object per line, `at` how many seconds since it was started: where it listens (`listening` with its `port`), each request
(`request` with its method, path, status and the `sections` of its offer), each second of a session with the packets that came
(`second` with `video` and `audio`), `whole` with the sections that have come when a session has all of them, `thrown` with those that
are missing, and `freed` when a name is free again. It ends, without closing its sessions, when its standard input ends.
"""

import asyncio
import json
import os
import secrets
import sys
import time

import aioice.ice
from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription
from receiving import serve

HOLD = float(os.environ.get("HOLD", "30"))
TIMEOUT = float(os.environ.get("TIMEOUT", "10"))
BEGIN = time.monotonic()
STUN_RECEIVED = aioice.ice.StunProtocol.datagram_received


def say(event, **facts):
    print(json.dumps({"event": event, "at": round(time.monotonic() - BEGIN, 2), **facts}), flush=True)


def note_datagram(protocol, data, address):
    protocol.receiver.heard = time.monotonic()
    STUN_RECEIVED(protocol, data, address)


aioice.ice.StunProtocol.datagram_received = note_datagram


class Session:
    """A publisher, until it sends DELETE, is thrown out or has been silent for HOLD seconds and another one was refused."""

    def __init__(self, path, leave):
        self.path = path
        self.leave = leave
        self.id = secrets.token_hex(16)
        self.connection = RTCPeerConnection()
        self.packets = {}
        self.has_barred = False

    def is_gone(self):
        return self.has_barred and time.monotonic() - self.ice.heard > HOLD

    async def answer(self, offer):
        await self.connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        transport = self.connection.getTransceivers()[0].receiver.transport
        self.ice = transport.transport._connection
        self.ice.heard = time.monotonic()
        self.types = {}
        for transceiver in self.connection.getTransceivers():
            self.packets[transceiver.kind] = 0
            self.types.update({codec.payloadType: transceiver.kind for codec in transceiver._codecs})
        received = transport._handle_rtp_data

        async def count(data, arrival_time_ms):
            kind = self.types.get(data[1] & 127)
            if kind:
                self.packets[kind] += 1
            await received(data, arrival_time_ms)

        transport._handle_rtp_data = count
        self.task = asyncio.ensure_future(self.watch())
        return self.connection.localDescription.sdp

    async def watch(self):
        while self.connection.connectionState != "connected":
            await asyncio.sleep(0.02)
            if self.is_gone():
                return await self.end()
        connected, told, before = time.monotonic(), 0, dict(self.packets)
        is_whole = False
        while True:
            await asyncio.sleep(0.02)
            now = time.monotonic()
            missing = [kind for kind, count in self.packets.items() if not count]
            if not is_whole and not missing:
                is_whole = True
                say("whole", path=self.path, sections=list(self.packets))
            elif not is_whole and now - connected > TIMEOUT:
                say("thrown", path=self.path, missing=missing)
                return await self.end()
            if now - connected > told + 1:
                told += 1
                say("second", path=self.path, **{kind: count - before[kind] for kind, count in self.packets.items()})
                before = dict(self.packets)
            if self.is_gone():
                return await self.end()

    async def end(self):
        self.leave(self)
        say("freed", path=self.path)
        await self.connection.close()

    async def stop(self):
        self.task.cancel()
        await self.end()


class Endpoint:
    def __init__(self, token):
        self.token = token
        self.sessions = {}

    def reply(self, request, status, text="", sections=(), **headers):
        say("request", method=request.method, path=request.path, status=status, sections=list(sections))
        return web.Response(status=status, text=text, headers=headers)

    def refuse(self, request, habit, sections):
        if habit == "silent":
            request.transport.close()
            return self.reply(request, 0, sections=sections)
        if habit == "409":
            return self.reply(request, 409, "Conflict", sections)
        return self.reply(request, 403, "Endpoint ID already in use" if habit == "403" else "", sections)

    async def publish(self, request):
        habit, offer = request.match_info["habit"], await request.text()
        sections = [line[2:].split(" ")[0] for line in offer.split("\r\n") if line.startswith("m=")]
        if request.path in self.sessions:
            self.sessions[request.path].has_barred = True
            return self.refuse(request, habit, sections)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return self.reply(request, 403 if habit in ("403", "wordless") else 401, "Unauthorized" if habit == "403" else "", sections)
        session = Session(request.path, lambda session: self.sessions.pop(session.path, None))
        self.sessions[request.path] = session
        answer = await session.answer(offer)
        response = self.reply(request, 201, answer, sections, Location=f"/session/{session.id}")
        response.content_type = "application/sdp"
        return response

    async def leave(self, request):
        for session in list(self.sessions.values()):
            if session.id == request.match_info["id"]:
                await session.stop()
                return self.reply(request, 200)
        return self.reply(request, 404)


endpoint = Endpoint(sys.argv[2])
application = web.Application()
application.add_routes([web.post("/{habit}/{name}", endpoint.publish), web.delete("/session/{id}", endpoint.leave)])
asyncio.run(serve(application, int(sys.argv[1])))
