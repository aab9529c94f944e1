"""A WHEP player after the protocol's texts alone (draft-ietf-wish-whep, RFC 9725, RFC 8840): HTTP by aiohttp, WebRTC by aiortc.

It posts its offer and plays; with --trickle it then sends its candidates, with --restart it begins ICE anew, with --mistakes it
asks for what can't be had, and with --delete it leaves, each after --frames more pictures. With --sound FILE it asks for the sound too,
and writes it there: 16 bits a sample, 48,000 times a second, in two channels. With a witness (witness.py) it asks for it, too.

Says what happens, one JSON object a line; the end of its standard input ends it.
"""

import argparse
import asyncio
import json
import re
import secrets
import sys
import urllib.parse

import aiohttp
import aioice.ice
from aioice import stun
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from witness import LOOPBACK, witness

# aioice leaves loopback out; who tests on one machine has nothing else for sure.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [LOOPBACK]

DESCRIPTION = "application/sdp"
FRAGMENT = "application/trickle-ice-sdpfrag"


def say(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


def attribute(sdp, name):
    found = re.search(rf"^a={name}:(.*?)\r?$", sdp, re.MULTILINE)
    return found.group(1) if found else None


class Move(asyncio.DatagramProtocol):
    """The way after a restart: a socket of its own, whose media goes to the connection that there is.

    It answers the host's requests, without which no media comes here.
    """

    def __init__(self, ice, password):
        self.ice = ice
        self.password = password.encode()
        self.replies = asyncio.Queue()
        self.requests = 0
        self.packets = 0

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if data[0] < 4:
            message = stun.parse_message(data)
            if message.message_class == stun.Class.REQUEST:
                if message.check_message_integrity(self.password):
                    self.answer(message, address)
            else:
                self.replies.put_nowait(message)
        else:
            self.packets += 1
            self.ice.data_received(data, 1)

    def answer(self, request, address):
        self.requests += 1
        answer = stun.Message(message_method=stun.Method.BINDING, message_class=stun.Class.RESPONSE,
                              transaction_id=request.transaction_id)
        answer.attributes["XOR-MAPPED-ADDRESS"] = address[:2]
        answer.add_message_integrity(self.password)
        answer.add_fingerprint()
        self.transport.sendto(bytes(answer), address)


class Player:
    def __init__(self, http, url, token, sound=None):
        self.http = http
        self.url = url
        self.authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self.connection = RTCPeerConnection()
        self.connection.addTransceiver("video", direction="recvonly")
        if sound or witness:
            self.connection.addTransceiver("audio", direction="recvonly")
        if sound:
            self.sound = open(sound, "wb", buffering=0)
        self.connection.on("track", lambda track: asyncio.ensure_future(self.watch(track)))
        self.connection.on("connectionstatechange", self.tell_state)
        self.frames = 0
        self.tasks = []

    def tell_state(self):
        """Says the state and, once connected, the host's end of the path that media takes."""
        state, path = self.connection.connectionState, None
        if state == "connected":
            ice = self.connection.getTransceivers()[0].receiver.transport.transport._connection
            path = "{}:{}".format(*ice._nominated[1].remote_addr)
        say("state", state=state, path=path)

    async def ask(self, method, url=None, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        async with self.http.request(
            method, url or self.session, data=body, headers={**self.authorization, **headers},
            # aiohttp would name a type by itself.
            skip_auto_headers=["Content-Type"], allow_redirects=False,
        ) as answer:
            return answer.status, answer.headers, await answer.text()

    async def play(self):
        await self.connection.setLocalDescription(await self.connection.createOffer())
        self.offer = self.connection.localDescription.sdp
        status, headers, text = await self.ask("POST", self.url, self.offer, Content_Type=DESCRIPTION)
        self.tag = headers.get("ETag")
        say("answered", status=status, tag=self.tag, location=headers.get("Location"), type=headers.get("Content-Type"),
            accepts=headers.get("Accept-Patch"), links=headers.getall("Link", []), text=text)
        if status != 201:
            return False
        self.session = urllib.parse.urljoin(self.url, headers["Location"])
        await self.connection.setRemoteDescription(RTCSessionDescription(text, "answer"))
        return True

    async def watch(self, track):
        try:
            while True:
                frame = await track.recv()
                if witness:
                    witness.take(frame, track.kind)
                elif track.kind == "audio":
                    self.sound.write(bytes(frame.planes[0])[:4 * frame.samples])
                else:
                    self.frames += 1
                    say("frame", number=self.frames, width=frame.width, height=frame.height, pts=frame.pts)
        except MediaStreamError:
            say("over")

    async def pictures(self, count):
        wanted = self.frames + count
        while self.frames < wanted:
            await asyncio.sleep(0.02)

    def fragment(self, ufrag, password, *more):
        mid = attribute(self.offer, "mid")
        return "\r\n".join([f"a=ice-ufrag:{ufrag}", f"a=ice-pwd:{password}", f"a=group:BUNDLE {mid}",
                            "m=video 9 UDP/TLS/RTP/SAVPF 0", f"a=mid:{mid}", *more, ""])

    async def trickle(self):
        candidates = [f"a=candidate:{text}" for text in re.findall(r"^a=candidate:(.*?)\r?$", self.offer, re.MULTILINE)]
        body = self.fragment(attribute(self.offer, "ice-ufrag"), attribute(self.offer, "ice-pwd"), *candidates,
                             "a=end-of-candidates")
        for form in [self.tag, self.tag.strip('"'), "*", '"*"', None]:
            status, headers, text = await self.ask("PATCH", body=body, Content_Type=FRAGMENT, If_Match=form)
            say("trickled", form=form, status=status, tag=headers.get("ETag"), text=text)

    async def restart(self):
        ufrag, password = secrets.token_hex(4), secrets.token_hex(16)
        body = self.fragment(ufrag, password)
        status, headers, text = await self.ask("PATCH", body=body, Content_Type=FRAGMENT, If_Match='"*"')
        say("restarted", status=status, type=headers.get("Content-Type"), tag=headers.get("ETag"),
            is_new=headers.get("ETag") != self.tag, text=text)
        if status != 200:
            return
        old_tag, self.tag = self.tag, headers["ETag"]
        host_ufrag, host_password = attribute(text, "ice-ufrag"), attribute(text, "ice-pwd")
        # The old way holds until the new one is nominated.
        await self.pictures(5)
        say("between")
        transport = self.connection.getTransceivers()[0].receiver.transport.transport
        candidate = attribute(text, "candidate").split()
        loop = asyncio.get_running_loop()
        socket, move = await loop.create_datagram_endpoint(
            lambda: Move(transport._connection, password), local_addr=("127.0.0.1", 0))
        address = ("127.0.0.1", int(candidate[5]))

        async def check(nominates):
            request = stun.Message(message_method=stun.Method.BINDING, message_class=stun.Class.REQUEST)
            request.attributes["USERNAME"] = f"{host_ufrag}:{ufrag}"
            request.attributes["PRIORITY"] = 1853824767
            request.attributes["ICE-CONTROLLING"] = 1
            if nominates:
                request.attributes["USE-CANDIDATE"] = None
            request.add_message_integrity(host_password.encode())
            request.add_fingerprint()
            socket.sendto(bytes(request), address)
            return await asyncio.wait_for(move.replies.get(), 5)

        reply = await check(nominates=False)
        say("checked", nominates=False, success=reply.message_class == stun.Class.RESPONSE,
            mapped=list(reply.attributes["XOR-MAPPED-ADDRESS"]) == list(socket.get_extra_info("sockname")),
            genuine=reply.check_message_integrity(host_password.encode()), packets=move.packets)
        reply = await check(nominates=True)
        say("checked", nominates=True, success=reply.message_class == stun.Class.RESPONSE)
        while move.packets < 10:
            await asyncio.sleep(0.02)
        await self.pictures(5)
        say("moved", packets=move.packets, requests=move.requests)

        async def keep():
            while True:
                await asyncio.sleep(2)
                await check(nominates=True)

        self.tasks.append(asyncio.ensure_future(keep()))
        status, _, _ = await self.ask("PATCH", body=body, Content_Type=FRAGMENT, If_Match=self.tag)
        say("trickled", form="new", status=status)
        status, _, _ = await self.ask("PATCH", body=body, Content_Type=FRAGMENT, If_Match=old_tag)
        say("trickled", form="old", status=status)

    async def mistakes(self):
        """Asks for what can't be had; none of it disturbs the session."""
        good = self.fragment(attribute(self.offer, "ice-ufrag"), attribute(self.offer, "ice-pwd"))
        lone = self.fragment(secrets.token_hex(4), attribute(self.offer, "ice-pwd"))
        vp8 = re.sub(r"H264/90000", "VP8/90000", self.offer)
        missing = self.session.rsplit("/", 1)[0] + "/00000000-0000-4000-8000-000000000000"
        for name, (method, url, body, headers) in {
            "offer of no type": ("POST", self.url, self.offer, {}),
            "offer of another type": ("POST", self.url, self.offer, {"Content_Type": "text/plain"}),
            "no offer": ("POST", self.url, "hello", {"Content_Type": DESCRIPTION}),
            "half an offer": ("POST", self.url, "v=0\r\nm=video\r\n", {"Content_Type": DESCRIPTION}),
            "offer without H.264": ("POST", self.url, vp8, {"Content_Type": DESCRIPTION}),
            "offer with a wrong token": (
                "POST", self.url, self.offer, {"Content_Type": DESCRIPTION, "Authorization": "Bearer wrong"}),
            "offer to no room": ("POST", self.url + "x", self.offer, {"Content_Type": DESCRIPTION}),
            "an endless offer": ("POST", self.url, "v=0\r\n" + "a=x\r\n" * 20000, {"Content_Type": DESCRIPTION}),
            "putting": ("PUT", self.url, "x", {}),
            "posting to the session": ("POST", self.session, self.offer, {"Content_Type": DESCRIPTION}),
            "fragment of another type": ("PATCH", self.session, good, {"Content_Type": DESCRIPTION}),
            "no fragment": ("PATCH", self.session, "hello", {"Content_Type": FRAGMENT}),
            "another state": ("PATCH", self.session, good, {"Content_Type": FRAGMENT, "If_Match": '"another"'}),
            "half a restart": ("PATCH", self.session, lone, {"Content_Type": FRAGMENT}),
            "fragment to no session": ("PATCH", missing, good, {"Content_Type": FRAGMENT}),
            "deleting no session": ("DELETE", missing, None, {}),
            "look at no session": ("GET", missing, None, {}),
            "look at the session": ("HEAD", self.session, None, {}),
            "look at the room": ("HEAD", self.url, None, {}),
            "methods of the room": ("OPTIONS", self.url, None, {}),
            "methods of the session": ("OPTIONS", self.session, None, {}),
        }.items():
            status, headers, _ = await self.ask(method, url, body, **headers)
            say("asked", what=name, status=status, allow=headers.get("Allow"), type=headers.get("Content-Type"),
                post=headers.get("Accept-Post"), patch=headers.get("Accept-Patch"), tag=headers.get("ETag"))
        say("asked", what="all")

    async def delete(self):
        for _ in range(2):
            status, _, _ = await self.ask("DELETE")
            say("deleted", status=status)


async def run(options):
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=not options.insecure)) as http:
        player = Player(http, options.url, options.token, options.sound)
        try:
            if not await player.play():
                return
            for wanted, step in [
                (options.trickle, player.trickle), (options.restart, player.restart),
                (options.mistakes, player.mistakes), (options.delete, player.delete),
            ]:
                if wanted:
                    await player.pictures(options.frames)
                    await step()
            say("done")
            await asyncio.Event().wait()
        finally:
            for task in player.tasks:
                task.cancel()
            await player.connection.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--token", default="")
    parser.add_argument("--frames", type=int, default=10)
    parser.add_argument("--sound", metavar="FILE")
    parser.add_argument("--insecure", action="store_true", help="take any certificate")
    for step in ["trickle", "restart", "mistakes", "delete"]:
        parser.add_argument(f"--{step}", action="store_true")
    options = parser.parse_args()
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    player = asyncio.ensure_future(run(options))
    input_end = asyncio.ensure_future(reader.read())
    await asyncio.wait([player, input_end], return_when=asyncio.FIRST_COMPLETED)
    if player.done():
        player.result()
    else:
        player.cancel()
        await asyncio.gather(player, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main())
