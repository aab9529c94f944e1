"""Publishes a moving picture by WHIP (RFC 9725), written after the RFC alone, with aiortc as its WebRTC.

    whip_publisher.py ENDPOINT TOKEN [--size WxH] [--tone HERTZ] [--announce N]

Says, one JSON object a line: the answer to its offer (`answered`), `connected`, that it has `published` N pictures, and how it left (`left`). Each line on its standard
input is a command:

    size WxH    goes on with pictures of another size
    restart     sends a PATCH that begins ICE anew, and says what came of it (`restarted`)
    patch TAG   sends a candidate, with that If-Match where there is one (`patched`)
    post        offers a second time, as another publisher would (`refused`)
    leave       ends the session by DELETE
    vanish      ends without a word to anybody
"""

import argparse
import array
import asyncio
import fractions
import json
import math
import os
import sys
import time
from urllib.parse import urljoin

import aiohttp
import av
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import MediaStreamTrack

RATE = 25


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


class Picture(VideoStreamTrack):
    """Four bars, and beside them a field whose brightness says how many pictures there were: 0 to 15, over and over."""

    # Y, U, V of red, green, blue and white.
    BARS = [(81, 90, 240), (145, 54, 34), (41, 240, 110), (235, 128, 128)]

    def __init__(self, width, height, announce):
        super().__init__()
        self.announce = announce
        self.size = (width, height)
        self.count = 0
        self.start = None

    async def recv(self):
        if self.start is None:
            self.start = time.monotonic()
        await asyncio.sleep(max(0, self.start + self.count / RATE - time.monotonic()))
        frame = self.draw()
        frame.pts = self.count * (90000 // RATE)
        frame.time_base = fractions.Fraction(1, 90000)
        self.count += 1
        if self.count == self.announce:
            say("published", count=self.count)
        return frame

    def draw(self):
        width, height = self.size
        frame = av.VideoFrame(width, height, "yuv420p")
        brightness = 16 + (self.count // 5) % 16 * 14
        colours = self.BARS + [(brightness, 128, 128)]
        for plane, part in zip(frame.planes, range(3)):
            rows, columns = plane.height, plane.width
            row = bytearray(plane.line_size)
            for index, colour in enumerate(colours):
                left = columns * index // len(colours)
                right = columns * (index + 1) // len(colours)
                row[left:right] = bytes([colour[part]]) * (right - left)
            plane.update(bytes(row) * rows)
        return frame


class Tone(MediaStreamTrack):
    """A sine of whole hertz in both channels, at half the full volume."""

    kind = "audio"
    RATE = 48000
    SAMPLES = RATE // 50

    def __init__(self, hertz):
        super().__init__()
        second = (round(16384 * math.sin(2 * math.pi * hertz * index / self.RATE)) for index in range(self.RATE))
        samples = array.array("h", [sample for value in second for sample in (value, value)]).tobytes()
        size = 4 * self.SAMPLES
        self.packets = [samples[start:start + size] for start in range(0, len(samples), size)]
        self.count = 0
        self.start = None

    async def recv(self):
        if self.start is None:
            self.start = time.monotonic()
        await asyncio.sleep(max(0, self.start + self.count * self.SAMPLES / self.RATE - time.monotonic()))
        frame = av.AudioFrame(format="s16", layout="stereo", samples=self.SAMPLES)
        frame.planes[0].update(self.packets[self.count % len(self.packets)])
        frame.sample_rate = self.RATE
        frame.pts = self.count * self.SAMPLES
        frame.time_base = fractions.Fraction(1, self.RATE)
        self.count += 1
        return frame


class Publisher:
    def __init__(self, session, endpoint, token, size, tone, announce):
        self.session = session
        self.endpoint = endpoint
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.picture = Picture(*size, announce)
        self.tone = tone
        self.connection = None
        self.location = None
        self.offer = None

    async def make_offer(self):
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        transceiver = connection.addTransceiver(self.picture, direction="sendonly")
        codecs = RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([c for c in codecs if c.mimeType == "video/H264"])
        if self.tone:
            connection.addTransceiver(Tone(self.tone), direction="sendonly")
        await connection.setLocalDescription(await connection.createOffer())
        return connection

    async def post(self, sdp):
        return await self.session.post(
            self.endpoint, data=sdp, headers={**self.headers, "Content-Type": "application/sdp"}
        )

    async def open(self):
        self.connection = await self.make_offer()
        self.offer = self.connection.localDescription.sdp

        @self.connection.on("connectionstatechange")
        def changed():
            say(self.connection.connectionState)

        async with await self.post(self.offer) as answer:
            text = await answer.text()
            say("answered", status=answer.status, location=answer.headers.get("Location"),
                etag=answer.headers.get("ETag"), accept_patch=answer.headers.get("Accept-Patch"),
                type=answer.headers.get("Content-Type"), text=text)
            if answer.status != 201:
                return False
            self.location = urljoin(self.endpoint, answer.headers["Location"])
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp=text, type="answer"))
        return True

    async def patch(self, body, tag=None):
        headers = {**self.headers, "Content-Type": "application/trickle-ice-sdpfrag"}
        if tag:
            headers["If-Match"] = tag
        async with self.session.patch(self.location, data=body, headers=headers) as answer:
            return answer.status, answer.headers.get("ETag"), await answer.text()

    def credentials(self):
        return [line for line in self.offer.split("\r\n") if line.startswith(("a=ice-ufrag", "a=ice-pwd"))]

    async def obey(self, line):
        words = line.split()
        if words[0] == "size":
            self.picture.size = tuple(int(side) for side in words[1].split("x"))
        elif words[0] == "patch":
            body = "\r\n".join(self.credentials() + ["a=candidate:9 1 udp 1 192.0.2.1 9 typ host", ""])
            status, etag, _ = await self.patch(body, words[1] if len(words) > 1 else None)
            say("patched", status=status, etag=etag)
        elif words[0] == "restart":
            body = "a=ice-ufrag:anew\r\na=ice-pwd:0123456789012345678901\r\n"
            status, etag, text = await self.patch(body, "*")
            say("restarted", status=status, etag=etag, text=text)
        elif words[0] == "post":
            other = await self.make_offer()
            async with await self.post(other.localDescription.sdp) as answer:
                say("refused", status=answer.status, text=await answer.text())
            await other.close()
        elif words[0] == "leave":
            async with self.session.delete(self.location, headers=self.headers) as answer:
                first = answer.status
            async with self.session.delete(self.location, headers=self.headers) as answer:
                say("left", status=first, again=answer.status, count=self.picture.count)
            await self.connection.close()
            return False
        elif words[0] == "vanish":
            os._exit(0)
        return True


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("endpoint")
    parser.add_argument("token")
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--tone", type=int)
    parser.add_argument("--announce", type=int)
    options = parser.parse_args()
    size = [int(side) for side in options.size.split("x")]
    async with aiohttp.ClientSession() as session:
        publisher = Publisher(session, options.endpoint, options.token, size, options.tone, options.announce)
        if not await publisher.open():
            return
        lines = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while line := await lines.readline():
            if not await publisher.obey(line.decode()):
                return


asyncio.run(main())
