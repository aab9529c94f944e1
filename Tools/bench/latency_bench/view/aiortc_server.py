"""A WHEP server by aiortc, which sends a stream of RTSP as it is coded: usage: aiortc_server URL.

In the environment of the tests' clients that Tools/python makes. Each viewer gets a connection of its own to the RTSP
server, which begins with a key frame. Later, aiortc has no way to ask for one: what a viewer misses beyond the reach of
retransmissions is gone until the source's next key frame.

Prints {"event": "ready", "port": PORT}, and runs until it is killed.
"""

import asyncio
import json
import secrets
import sys

import aioice.ice
from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.contrib.media import MediaPlayer

# aioice leaves loopback out.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]

#: Of FFmpeg: the stream's parameters are in its description, so nothing is read to find them.
OPTIONS = {"rtsp_transport": "tcp", "fflags": "nobuffer", "probesize": "32", "analyzeduration": "0"}


def h264():
    """The formats to send in, each with its retransmissions."""
    return [one for one in RTCRtpSender.getCapabilities("video").codecs if one.mimeType in ("video/H264", "video/rtx")]


def without_candidates(offer):
    """Browsers hide their addresses in names that nobody here resolves. ICE finds them by the viewer's checks."""
    lines = [line for line in offer.splitlines() if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
    return "\r\n".join(lines) + "\r\n"


class Endpoint:
    def __init__(self, url):
        self.url, self.sessions = url, {}

    def _open(self):
        return MediaPlayer(self.url, format="rtsp", options=OPTIONS, decode=False)

    async def play(self, request):
        offer = without_candidates(await request.text())
        player = await asyncio.get_running_loop().run_in_executor(None, self._open)
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        sender = connection.addTrack(player.video)
        next(one for one in connection.getTransceivers() if one.sender is sender).setCodecPreferences(h264())
        await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        await connection.setLocalDescription(await connection.createAnswer())
        name = secrets.token_hex(16)
        self.sessions[name] = connection
        return web.Response(status=201, text=connection.localDescription.sdp, content_type="application/sdp",
                            headers={"Location": "/whep/" + name})

    async def leave(self, request):
        connection = self.sessions.pop(request.match_info["name"], None)
        if connection is None:
            return web.Response(status=404)
        await connection.close()
        return web.Response()


async def main(url):
    endpoint, application = Endpoint(url), web.Application()
    application.add_routes([web.post("/whep", endpoint.play), web.delete("/whep/{name}", endpoint.leave)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(json.dumps({"event": "ready", "port": site._server.sockets[0].getsockname()[1]}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
