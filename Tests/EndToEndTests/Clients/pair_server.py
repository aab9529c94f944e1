"""A server of one-to-one rooms, as avdance's is one by its description: python-socketio speaks Engine.IO and socket.io.

Two may be in a room. Who is there first is told that the other has come, and calls it; messages go to the other. Says what
happens, one JSON object a line; the end of standard input ends it.
"""

import argparse
import asyncio
import json
import sys

import socketio
from aiohttp import web
from witness import LOOPBACK

# Version 4 hands coroutines to asyncio.wait, which takes only tasks since Python 3.11.
wait_for_tasks = asyncio.wait
asyncio.wait = lambda work, **more: wait_for_tasks([asyncio.ensure_future(each) for each in work], **more)

server = socketio.AsyncServer(async_mode="aiohttp")
rooms = {}


def say(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


@server.event
async def connect(sid, environment, *_):
    say("connected", query=environment["QUERY_STRING"])


@server.event
async def join(sid, room):
    members = rooms.setdefault(room, [])
    if len(members) == 2:
        say("full", room=room)
        await server.emit("full", (room, sid), room=sid)
        return
    members.append(sid)
    say("join", room=room, members=len(members))
    await server.emit("joined", (room, sid), room=sid)
    for other in members[:-1]:
        await server.emit("otherjoin", (room, sid), room=other)


async def take_out(sid, room):
    members = rooms.get(room, [])
    if sid in members:
        members.remove(sid)
        say("leave", room=room, members=len(members))
        for other in members:
            await server.emit("bye", (room, sid), room=other)


@server.event
async def leave(sid, room):
    await take_out(sid, room)
    await server.emit("leaved", (room, sid), room=sid)


@server.event
async def message(sid, room, data):
    members = rooms.get(room, [])
    if sid in members:
        say("relay", type=data.get("type"))
        for other in members:
            if other != sid:
                await server.emit("message", (room, data), room=other)


@server.event
async def disconnect(sid, *_):
    for room in rooms:
        await take_out(sid, room)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    application = web.Application()
    server.attach(application)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, options.port).start()
    say("listening")
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


asyncio.run(main())
