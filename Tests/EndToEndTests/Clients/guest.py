"""Watches a room as a page does, without taking pictures.

usage: guest.py LINK NAME
Says `joined` with what _peers says, `sound` with what each _sound says, and `closed` with the WebSocket's close code.
"""

import asyncio
import json
import sys
from urllib.parse import urlsplit

import websockets


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


async def main():
    link = urlsplit(sys.argv[1])
    async with websockets.connect(f"ws://{link.netloc}/ws") as socket:
        join = {"room": link.fragment, "role": "viewer", "name": sys.argv[2]}
        await socket.send(json.dumps({"eventName": "__join", "data": join}))
        try:
            async for text in socket:
                message = json.loads(text)
                if message["eventName"] == "_peers":
                    say("joined", you=message["data"]["you"])
                elif message["eventName"] == "_sound":
                    say("sound", sound=message["data"]["sound"])
        except websockets.ConnectionClosed:
            pass
        say("closed", code=socket.close_code)


asyncio.run(main())
