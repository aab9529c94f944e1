#!/usr/bin/env python3
"""Publishes over WHIP or plays over WHEP with libdatachannel, for Tools/soak peers. It reads H.264 in Annex B form and Ogg
Opus, and prints each frame that it plays, one JSON object a line.

    datachannel.py publish URL TOKEN VIDEO AUDIO
    datachannel.py play URL TOKEN AUDIO
"""

import json
import re
import sys
import threading
import time
import urllib.error
import urllib.request

import libdatachannel as rtc

OPUS, H264 = 111, 102


def negotiate(connection, url, token):
    """Sends our offer with all its candidates, and takes the answer."""
    gathered = threading.Event()
    connection.on_gathering_state_change(
        lambda state: gathered.set() if state == rtc.PeerConnection.GatheringState.Complete else None)
    connection.set_local_description(rtc.Description.Type.Offer)
    assert gathered.wait(10), "no candidates"
    request = urllib.request.Request(
        url, str(connection.local_description()).encode(), method="POST",
        headers={"Content-Type": "application/sdp", "Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        sys.exit(str(error.code))
    connection.set_remote_description(rtc.Description(text, rtc.Description.Type.Answer))


def frames(path):
    """The access units of a file in Annex B form. A slice that begins with macroblock 0 begins another one, as do the
    parameter sets before it (ITU-T H.264, 7.4.1.2)."""
    unit, has_slice = b"", False
    for nal in re.split(rb"\x00\x00\x00?\x01", open(path, "rb").read())[1:]:
        is_slice = nal[0] & 31 in (1, 5)
        if has_slice and (not is_slice or nal[1] & 0x80):
            yield unit
            unit, has_slice = b"", False
        unit += b"\x00\x00\x00\x01" + nal
        has_slice = has_slice or is_slice
    yield unit


def packets(path):
    """The Opus packets of an Ogg file with one packet a page, without its two headers (RFC 3533, RFC 7845)."""
    data = open(path, "rb").read()
    at = number = 0
    while data[at:at + 4] == b"OggS":
        lengths = data[at + 27:at + 27 + data[at + 26]]
        start = at + 27 + len(lengths)
        at = start + sum(lengths)
        if (number := number + 1) > 2:
            yield data[start:at]


class OggWriter:
    """Writes Opus packets as an Ogg file, one packet a page."""

    CHECKSUMS = []
    for value in range(256):
        value <<= 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7 if value >> 31 else value << 1) & 0xFFFFFFFF
        CHECKSUMS.append(value)

    def __init__(self, path):
        self.file = open(path, "wb")
        self.number = self.position = 0
        self.write(b"OpusHead\x01\x02\x00\x00\x80\xbb\x00\x00\x00\x00\x00", 0)
        self.write(b"OpusTags\x00\x00\x00\x00\x00\x00\x00\x00", 0)

    def write(self, packet, samples):
        self.position += samples
        lengths = bytes([255] * (len(packet) // 255) + [len(packet) % 255])
        head = b"OggS\x00" + bytes([0 if self.number else 2]) + self.position.to_bytes(8, "little")
        head += b"\x01\x00\x00\x00" + self.number.to_bytes(4, "little")
        tail = bytes([len(lengths)]) + lengths + packet
        checksum = 0
        for byte in head + bytes(4) + tail:
            checksum = (checksum << 8 & 0xFFFFFFFF) ^ self.CHECKSUMS[checksum >> 24 ^ byte]
        self.file.write(head + checksum.to_bytes(4, "little") + tail)
        self.file.flush()
        self.number += 1


def add(connection, media, codec, ssrc, direction):
    """Adds a section, and returns its track and what its packets begin with."""
    payload, rate = (OPUS, 48000) if codec == "opus" else (H264, 90000)
    if codec == "opus":
        media.add_opus_codec(payload)
    else:
        media.add_h264_codec(payload)
    if direction == rtc.Description.Direction.SendOnly:
        media.add_ssrc(ssrc, "peer", "peer", f"peer-{codec}")
    return connection.add_track(media), rtc.RtpPacketizationConfig(ssrc, "peer", payload, rate)


def publish(connection, url, token, video, audio):
    direction = rtc.Description.Direction.SendOnly
    pictures, pictures_config = add(connection, rtc.Description.Video("video", direction), "h264", 42, direction)
    sound, sound_config = add(connection, rtc.Description.Audio("audio", direction), "opus", 43, direction)
    packetizer = rtc.H264RtpPacketizer(rtc.NalUnit.Separator.LongStartSequence, pictures_config)
    pictures.set_media_handler(packetizer)
    sound.set_media_handler(rtc.OpusRtpPacketizer(sound_config))
    for track, config in ((pictures, pictures_config), (sound, sound_config)):
        track.chain_media_handler(rtc.RtcpSrReporter(config))
        track.chain_media_handler(rtc.RtcpNackResponder())
    opened = [threading.Event(), threading.Event()]
    pictures.on_open(opened[0].set)
    sound.on_open(opened[1].set)
    negotiate(connection, url, token)
    for event in opened:
        assert event.wait(10), "not connected"

    def send(track, units, rate, interval):
        start = time.monotonic()
        for number, unit in enumerate(units):
            time.sleep(max(0, start + number * interval - time.monotonic()))
            track.send_frame(unit, rtc.FrameInfo(round(number * interval * rate)))

    threading.Thread(target=send, args=(sound, packets(audio), 48000, 0.02), daemon=True).start()
    send(pictures, frames(video), 90000, 0.04)


def play(connection, url, token, audio):
    direction = rtc.Description.Direction.RecvOnly
    pictures, _ = add(connection, rtc.Description.Video("video", direction), "h264", 42, direction)
    sound, _ = add(connection, rtc.Description.Audio("audio", direction), "opus", 43, direction)
    for track, depacketizer in ((pictures, rtc.H264RtpDepacketizer()), (sound, rtc.OpusRtpDepacketizer())):
        track.set_media_handler(depacketizer)
        track.chain_media_handler(rtc.RtcpReceivingSession())
    writer = OggWriter(audio)
    pictures.on_frame(lambda _, info: print(json.dumps({"event": "frame", "pts": info.timestamp}), flush=True))
    sound.on_frame(lambda data, _: writer.write(bytes(data), 960))
    negotiate(connection, url, token)
    threading.Event().wait()


if __name__ == "__main__":
    configuration = rtc.Configuration()
    configuration.disable_auto_negotiation = True
    peer = rtc.PeerConnection(configuration)
    {"publish": publish, "play": play}[sys.argv[1]](peer, *sys.argv[2:])
