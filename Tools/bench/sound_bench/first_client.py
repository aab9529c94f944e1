"""A WHEP player that writes the sound that it gets: usage: first_client LINK FILE SECONDS.

It plays for so many seconds after the first sound and then prints one JSON object: "asked" and "connected", when it
asked the host and was connected; "reports", pairs of a time and the RTP time stamp that the host's sender reports give
it; and "frames", of each frame of sound its RTP time stamp, when its first packet came, and its samples. FILE gets
these, 16 bits each, of the first channel. Times are seconds of CLOCK_MONOTONIC.
"""

import asyncio
import json
import sys
import time

from aiortc import RTCConfiguration, RTCPeerConnection
from aiortc.rtp import RtcpSrPacket

from .whep_client import AUDIO, NTP_OFFSET, VIDEO, Stream, play

#: Seconds until the first sound must have come.
START = 30


class Recording(Stream):
    def __init__(self, connection):
        super().__init__(connection, "audio", AUDIO)
        self.reports, self.frames = [], []

    async def _report_came(self, packet):
        if isinstance(packet, RtcpSrPacket):
            one = packet.sender_info
            self.reports.append([one.ntp_timestamp / 2**32 - NTP_OFFSET, one.rtp_timestamp])
        await super()._report_came(packet)

    async def record(self, file, seconds):
        end = None
        while end is None or time.monotonic() < end or not self.reports:
            frame = await self.receiver.track.recv()
            end = end or time.monotonic() + seconds
            channels = frame.layout.nb_channels
            samples = memoryview(frame.planes[0]).cast("h")[:channels * frame.samples:channels]
            file.write(samples.tobytes())
            self.frames.append([frame.pts % 2**32, self._arrivals[frame.pts % 2**32], frame.samples])


async def main(link, path, seconds):
    connection, times = RTCPeerConnection(RTCConfiguration(iceServers=[])), {}

    @connection.on("connectionstatechange")
    def changed():
        times.setdefault(connection.connectionState, time.monotonic())

    try:
        Stream(connection, "video", VIDEO)
        recording = Recording(connection)
        asked = time.monotonic()
        await play(connection, link)
        with open(path, "wb") as file:
            await asyncio.wait_for(recording.record(file, seconds), START + seconds)
        print(json.dumps({"asked": asked, "connected": times.get("connected"), "reports": recording.reports,
                          "frames": recording.frames}), flush=True)
    finally:
        await connection.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
