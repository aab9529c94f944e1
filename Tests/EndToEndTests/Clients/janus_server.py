"""As much of Janus' VideoRoom as a publisher sees, after its documents alone: a WebSocket by aiohttp, WebRTC by aiortc.

    janus_server.py PORT TOKEN

It has the room 1234, which wants the PIN `sesame`, and wants TOKEN with each request. Says, one JSON object a line: where it listens
(`listening` with its `port`), each request (`request` with what it asks for), and what receiving.py says. The end
of its standard input ends it without a word to anybody.
"""

import asyncio
import json
import sys

from aiohttp import WSMsgType, web
from receiving import answer, say, serve

PLUGIN = "janus.plugin.videoroom"


class Client:
    def __init__(self, socket):
        self.socket = socket
        self.session = None
        self.handle = None
        self.publisher = None
        self.connection = None

    async def send(self, kind, request, **words):
        reply = {"janus": kind, **words}
        if "transaction" in request:
            reply["transaction"] = request["transaction"]
        if self.session:
            reply["session_id"] = self.session
        await self.socket.send_str(json.dumps(reply))

    async def event(self, request, jsep=None, **data):
        words = {"jsep": jsep} if jsep else {}
        await self.send("event", request, sender=self.handle, plugindata={"plugin": PLUGIN, "data": data}, **words)

    async def take(self, request):
        kind = request.get("janus")
        body = request.get("body", {})
        say("request", janus=kind, request=body.get("request"))
        if request.get("token") != sys.argv[2]:
            await self.send("error", request, error={"code": 403, "reason": "Unauthorized request"})
        elif kind == "create":
            self.session = 5_000_000_000_000_001
            await self.send("success", request, data={"id": self.session})
        elif request.get("session_id") != self.session:
            await self.send("error", request, error={"code": 458, "reason": "No such session"})
        elif kind == "attach":
            self.handle = 6_000_000_000_000_002
            await self.send("success", request, data={"id": self.handle})
        elif kind == "message" and request.get("handle_id") == self.handle:
            await self.send("ack", request)
            await self.message(request, body)
        elif kind == "keepalive":
            await self.send("ack", request)
        elif kind == "destroy":
            if self.connection:
                await self.connection.close()
            await self.send("success", request)
        else:
            await self.send("error", request, error={"code": 459, "reason": "No such handle"})

    async def message(self, request, body):
        if body.get("request") == "join":
            if body.get("room") != 1234:
                return await self.event(request, videoroom="event", error_code=426, error="No such room")
            if body.get("pin") != "sesame":
                return await self.event(request, videoroom="event", error_code=433, error="Unauthorized (wrong pin)")
            self.publisher = 77
            await self.event(request, videoroom="joined", room=1234, id=77, publishers=[])
        elif body.get("request") == "publish" and self.publisher and request["jsep"]["type"] == "offer":
            self.connection = await answer(request["jsep"]["sdp"])
            local = self.connection.localDescription
            await self.event(
                request, {"type": local.type, "sdp": local.sdp}, videoroom="event", room=1234, configured="ok")
        else:
            await self.event(request, videoroom="event", error_code=423, error="Unknown request")


async def connect(request):
    socket = web.WebSocketResponse(protocols=["janus-protocol"])
    await socket.prepare(request)
    if socket.ws_protocol != "janus-protocol":
        await socket.close()
        return socket
    client = Client(socket)
    async for message in socket:
        if message.type == WSMsgType.TEXT:
            await client.take(json.loads(message.data))
    say("gone")
    return socket


application = web.Application()
application.add_routes([web.get("/", connect)])
asyncio.run(serve(application, int(sys.argv[1])))
