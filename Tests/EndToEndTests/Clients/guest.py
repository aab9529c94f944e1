"""Watches a room as a page does, without taking pictures.

usage: guest.py LINK NAME [HEADER VALUE]...
Sends these headers with its request for a WebSocket. Says `refused` with the status if it gets none.
Says `waiting` when it waits to be let in, `joined` with what _peers says, `sound` and `turn` with what each _sound and
_turn says, and `closed` with the WebSocket's close code. Each line of its input is an action of __turn, without a
member, or, behind "chat ", a message for the chat, or, behind "point ", the data of a __point.
"""

import asyncio
import json
import sys
from urllib.parse import urlsplit

import websockets


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


async def ask(socket):
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        word, _, text = line.decode().strip().partition(" ")
        name, data = ("__chat", {"text": text}) if word == "chat" else ("__turn", {"action": word})
        if word == "point":
            name, data = "__point", json.loads(text)
        await socket.send(json.dumps({"eventName": name, "data": data}))


async def main():
    link = urlsplit(sys.argv[1])
    headers = list(zip(sys.argv[3::2], sys.argv[4::2]))
    try:
        socket = await websockets.connect(f"ws://{link.netloc}/ws", additional_headers=headers)
    except websockets.InvalidStatus as refusal:
        return say("refused", status=refusal.response.status_code)
    async with socket:
        join = {"room": link.fragment, "role": "viewer", "name": sys.argv[2]}
        await socket.send(json.dumps({"eventName": "__join", "data": join}))
        asking = asyncio.create_task(ask(socket))
        try:
            async for text in socket:
                message = json.loads(text)
                if message["eventName"] == "_peers":
                    say("joined", you=message["data"]["you"], turn=message["data"].get("turn"))
                elif message["eventName"] == "_waiting":
                    say("waiting")
                elif message["eventName"] == "_sound":
                    say("sound", sound=message["data"]["sound"])
                elif message["eventName"] == "_turn":
                    data = message["data"]
                    say("turn", turn=data.get("turn"), left=data.get("turnLeft"), wait=data.get("turnWait"))
        except websockets.ConnectionClosed:
            pass
        asking.cancel()
        say("closed", code=socket.close_code)


asyncio.run(main())
