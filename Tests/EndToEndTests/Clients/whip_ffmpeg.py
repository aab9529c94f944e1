"""Publishes a moving picture and a tone by FFmpeg's own WHIP muxer (FFmpeg 8, in PyAV), with x264 and libopus.

    whip_ffmpeg.py ENDPOINT TOKEN [--tone HERTZ] [--size WxH] [--announce N]

Says, one JSON object a line, that it is `connected`, that it has `published` N pictures, and how it left (`left`, with how many there were)
or failed (`failed`). A line `leave` on its standard input ends the session by DELETE.
"""

import argparse
import array
import fractions
import json
import math
import random
import sys
import threading
import time

import av

RATE, SOUND_RATE, SAMPLES = 25, 48000, 960
# Y, U, V of red, green, blue and white.
BARS = [(81, 90, 240), (145, 54, 34), (41, 240, 110), (235, 128, 128)]


def say(event, **facts):
    # One call: print writes the line and its end apart, and threads would mix theirs.
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def draw(size, count):
    """Four bars, and a field whose brightness goes through 16 steps. The lowest eighth is noise, so that pictures take several packets."""
    frame = av.VideoFrame(*size, "yuv420p")
    colours = BARS + [(16 + count // 5 % 16 * 14, 128, 128)]
    noise = random.Random(count)
    for plane, part in zip(frame.planes, range(3)):
        row = bytearray(plane.line_size)
        for index, colour in enumerate(colours):
            left, right = (plane.width * place // len(colours) for place in (index, index + 1))
            row[left:right] = bytes([colour[part]]) * (right - left)
        rows = plane.height - (plane.height // 8 if part == 0 else 0)
        plane.update(bytes(row) * rows + noise.randbytes(plane.line_size * (plane.height - rows)))
    frame.pts = count
    frame.time_base = fractions.Fraction(1, RATE)
    return frame


def sound(hertz, count):
    """The packet of this number of a sine in both channels, at half the full volume."""
    values = (round(16384 * math.sin(2 * math.pi * hertz * index / SOUND_RATE))
              for index in range(count * SAMPLES, (count + 1) * SAMPLES))
    frame = av.AudioFrame(format="s16", layout="stereo", samples=SAMPLES)
    frame.planes[0].update(array.array("h", [sample for value in values for sample in (value, value)]).tobytes())
    frame.sample_rate = SOUND_RATE
    frame.pts = count * SAMPLES
    frame.time_base = fractions.Fraction(1, SOUND_RATE)
    return frame


def publish(options, has_left):
    output = av.open(options.endpoint, "w", format="whip", options={"authorization": options.token})
    size = [int(side) for side in options.size.split("x")]
    pictures = output.add_stream("libx264", rate=RATE, options={
        "preset": "ultrafast", "tune": "zerolatency", "profile": "baseline", "g": "50"})
    pictures.width, pictures.height = size
    pictures.pix_fmt = "yuv420p"
    pictures.bit_rate = 1_500_000
    tone = output.add_stream("libopus", rate=SOUND_RATE, layout="stereo") if options.tone else None
    output.start_encoding()
    say("connected")
    start = time.monotonic()
    sent = packets = 0
    while not has_left.is_set():
        passed = time.monotonic() - start
        if sent / RATE <= passed:
            output.mux(pictures.encode(draw(size, sent)))
            sent += 1
            if sent == options.announce:
                say("published", count=sent)
        while tone and packets * SAMPLES / SOUND_RATE <= passed:
            output.mux(tone.encode(sound(options.tone, packets)))
            packets += 1
        time.sleep(0.004)
    output.close()
    say("left", status=200, count=sent)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("endpoint")
    parser.add_argument("token")
    parser.add_argument("--tone", type=int)
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--announce", type=int, default=100)
    options = parser.parse_args()
    has_left = threading.Event()

    def listen():
        for line in sys.stdin:
            if line.strip() == "leave":
                has_left.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        publish(options, has_left)
    except av.error.FFmpegError as error:
        say("failed", text=str(error))
        sys.exit(1)


main()
