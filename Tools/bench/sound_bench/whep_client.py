"""A WHEP player that tells when each flash and each beep was, by the host's time stamps: usage: whep_client LINK.

HTTP by aiohttp, WebRTC by aiortc, in the environment of the tests' clients that Tools/python makes. It says "ready"
when it has found a flash and a beep. At the end of standard input it prints one JSON object: "flashes" and "beeps",
with two times for each, in seconds of CLOCK_MONOTONIC: that of its RTP time stamp, by the stream's latest sender
report, and when its first packet came.
"""

import asyncio
import json
import sys
import time

import aiohttp
import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.rtp import RtcpSrPacket

# aioice leaves loopback out.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]

#: Seconds until a flash and a beep must have been found.
START = 40
#: Ticks of the time stamps in a second.
VIDEO, AUDIO = 90_000, 48_000
#: A picture is bright if the mean of its luma is over this, halfway from black to white. One point of so many counts.
BRIGHT, STEP = 126, 1009
#: The same as in pulse.py.
LOUD, QUIET = 0.1 * 32768, AUDIO // 5
#: Taken from NTP's seconds since 1900, gives CLOCK_MONOTONIC. The host did the opposite when it started.
NTP_OFFSET = 2_208_988_800 + time.time() - time.monotonic()
#: Packets whose arrival is remembered. aiortc decodes a frame when the next ones have come.
ARRIVALS = 1000


class Stream:
    """One of the streams: what its time stamps mean, and what was found in it."""

    def __init__(self, connection, kind, rate):
        self.receiver = connection.addTransceiver(kind, direction="recvonly").receiver
        self.rate, self.found = rate, []
        self._report, self._arrivals = None, {}
        # Frames are to have their RTP time stamps, unwrapped, and not the time since the first one.
        mapper = self.receiver._RTCRtpReceiver__timestamp_mapper
        mapper._origin = mapper._last = 0
        # aiortc tells of no sender report's RTP time stamp, and of no arrival.
        self._take_report, self._take_packet = self.receiver._handle_rtcp_packet, self.receiver._handle_rtp_packet
        self.receiver._handle_rtcp_packet, self.receiver._handle_rtp_packet = self._report_came, self._packet_came

    async def _report_came(self, packet):
        if isinstance(packet, RtcpSrPacket):
            self._report = packet.sender_info.ntp_timestamp / 2**32 - NTP_OFFSET, packet.sender_info.rtp_timestamp
        await self._take_report(packet)

    async def _packet_came(self, packet, **more):
        self._arrivals.setdefault(packet.timestamp, time.monotonic())
        if len(self._arrivals) > ARRIVALS:
            del self._arrivals[next(iter(self._arrivals))]
        await self._take_packet(packet, **more)

    def find(self, frame, sample=0):
        """Keeps the times of a frame's beginning, or of one of its samples."""
        if self._report is None:
            return  # nobody could tell yet
        moment, timestamp = self._report
        since = (frame.pts - timestamp + 2**31) % 2**32 - 2**31
        self.found.append([moment + (since + sample) / self.rate,
                           self._arrivals[frame.pts % 2**32] + sample / self.rate])


async def find_flashes(stream):
    was_bright = True
    while True:
        frame = await stream.receiver.track.recv()
        luma = memoryview(frame.planes[0])[::STEP]
        is_bright = sum(luma) > BRIGHT * len(luma)
        if is_bright and not was_bright:
            stream.find(frame)
        was_bright = is_bright


async def find_beeps(stream):
    """Finds them by the time stamps of samples, since a silence has no packets."""
    loud_at = None
    while True:
        frame = await stream.receiver.track.recv()
        # The plane has room for the longest packet.
        channels = frame.layout.nb_channels
        samples = memoryview(frame.planes[0]).cast("h")[:channels * frame.samples:channels]
        if max(samples) < LOUD and min(samples) > -LOUD:
            continue
        for place, sample in enumerate(samples):
            if abs(sample) >= LOUD:
                if loud_at is not None and frame.pts + place - loud_at > QUIET:
                    stream.find(frame, place)
                loud_at = frame.pts + place


async def play(connection, link):
    host, fragment = link.split("/#")
    room, _, token = fragment.partition(",")
    headers = {"Content-Type": "application/sdp", **({"Authorization": "Bearer " + token} if token else {})}
    await connection.setLocalDescription(await connection.createOffer())
    async with aiohttp.ClientSession() as http, http.post(
            "%s/whep/%s" % (host, room), data=connection.localDescription.sdp, headers=headers) as answer:
        text = await answer.text()
        if answer.status != 201:
            sys.exit("the host answered with %d: %s" % (answer.status, text))
    await connection.setRemoteDescription(RTCSessionDescription(text, "answer"))


async def until_found(streams):
    while not all(stream.found for stream in streams):
        await asyncio.sleep(0.05)


async def wait_for_one(*tasks, seconds=None):
    """Waits until one of them ends; raises what it has failed of."""
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def main(link):
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    tasks = []
    try:
        pictures, sound = Stream(connection, "video", VIDEO), Stream(connection, "audio", AUDIO)
        await play(connection, link)
        tasks = [asyncio.ensure_future(one) for one in (
            find_flashes(pictures), find_beeps(sound), reader.read(), until_found((pictures, sound)))]
        *work, found = tasks
        await wait_for_one(*tasks, seconds=START)
        if not found.done():
            sys.exit("%d flashes and %d beeps were found in %d s" % (len(pictures.found), len(sound.found), START))
        print("ready", flush=True)
        await wait_for_one(*work)
        print(json.dumps({"flashes": pictures.found, "beeps": sound.found}), flush=True)
    finally:
        for task in tasks:
            task.cancel()
        await connection.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
