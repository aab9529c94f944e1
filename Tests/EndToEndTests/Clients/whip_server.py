"""A WHIP endpoint after RFC 9725 alone: HTTP by aiohttp, WebRTC by aiortc.

    whip_server.py PORT TOKEN [FILE]

Port 0 takes a free one. `/whip` takes a session from who has the token; `/moved` sends him there with 307, `/circle` to itself,
`/gone` to a port where nobody listens, and `/busy` says 503.

Says, one JSON object a line: where it listens (`listening` with its `port`), each request (`request` with its method, path and status),
and what receiving.py says, which writes the sound to FILE. The end of its standard input ends it without a word to anybody.
"""

import asyncio
import secrets
import socket
import sys

from aiohttp import web
from receiving import answer, say, serve


class Endpoint:
    def __init__(self, token):
        self.token = token
        self.sessions = {}
        # As long as it is bound, nobody else can listen there.
        self.silent = socket.socket()
        self.silent.bind(("127.0.0.1", 0))

    def reply(self, request, status, text="", **headers):
        say("request", method=request.method, path=request.path, status=status,
            type=request.headers.get("Content-Type"))
        return web.Response(status=status, text=text, headers=headers)

    def admits(self, request):
        return request.headers.get("Authorization") == f"Bearer {self.token}"

    async def publish(self, request):
        if not self.admits(request):
            return self.reply(request, 401, **{"WWW-Authenticate": "Bearer"})
        connection = await answer(await request.text(), sys.argv[3] if len(sys.argv) > 3 else None)
        name = secrets.token_hex(16)
        self.sessions[name] = connection
        response = self.reply(
            request, 201, connection.localDescription.sdp, Location=f"session/{name}", ETag='"1"',
            Link='<stun:stun.example>; rel="ice-server"')
        response.content_type = "application/sdp"
        return response

    async def leave(self, request):
        if not self.admits(request):
            return self.reply(request, 401)
        connection = self.sessions.pop(request.match_info["name"], None)
        if not connection:
            return self.reply(request, 404)
        await connection.close()
        return self.reply(request, 200)

    async def move(self, request):
        return self.reply(request, 307, Location="/whip")

    async def circle(self, request):
        return self.reply(request, 308, Location="circle")

    async def lose(self, request):
        return self.reply(request, 307, Location="http://127.0.0.1:%d/whip" % self.silent.getsockname()[1])

    async def refuse(self, request):
        return self.reply(request, 503, **{"Retry-After": "7"})


endpoint = Endpoint(sys.argv[2])
application = web.Application()
application.add_routes([
    web.post("/whip", endpoint.publish), web.delete("/session/{name}", endpoint.leave),
    web.post("/moved", endpoint.move), web.post("/circle", endpoint.circle), web.post("/gone", endpoint.lose),
    web.post("/busy", endpoint.refuse),
])
asyncio.run(serve(application, int(sys.argv[1])))
