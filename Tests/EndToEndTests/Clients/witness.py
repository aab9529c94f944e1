"""What a client sees and hears, in a file: a line for each decoded frame and for each tenth of a second of audio.

    v TIME DIGEST     a frame; equal frames have equal digests
    a TIME 0|1        a tenth of a second of audio: 1 if it is the tone and hardly anything else

TIME is when it came, in seconds of CLOCK_MONOTONIC. The variable WITNESS is the file's path; without it there is no
witness. The variable HERTZ is the tone's frequency, 440 without it, and LOOPBACK this machine's own address for clients
and servers, 127.0.0.1 without it.
"""

import array
import math
import os
import time
import zlib

HERTZ = int(os.environ.get("HERTZ", "440"))
# Every fourth sample of 48 kHz is enough for this tone.
RATE = 12000
WINDOW = RATE // 10
SINE = [math.sin(2 * math.pi * HERTZ * index / RATE) for index in range(WINDOW)]
COSINE = [math.cos(2 * math.pi * HERTZ * index / RATE) for index in range(WINDOW)]


def is_tone(samples):
    """Whether a tenth of a second is at least a twentieth of the full volume, and 15 dB above all else."""
    of_sine = sum(map(float.__mul__, samples, SINE)) * 2 / WINDOW
    of_cosine = sum(map(float.__mul__, samples, COSINE)) * 2 / WINDOW
    signal = (of_sine ** 2 + of_cosine ** 2) / 2
    noise = max(sum(sample * sample for sample in samples) / WINDOW - signal, 1e-12)
    return signal > 0.05 ** 2 / 2 and signal / noise > 10 ** 1.5


class Witness:
    def __init__(self, path):
        self.file = open(path, "a", buffering=1)
        self.samples = []
        self.heard = 0

    def see(self, frame):
        plane = frame.planes[0]
        data, digest = memoryview(plane), 0
        for start in range(0, plane.height * plane.line_size, 2 * plane.line_size):
            digest = zlib.crc32(data[start:start + frame.width], digest)
        self.file.write(f"v {time.monotonic():.3f} {digest:08x}\n")

    def hear(self, frame):
        """Takes audio of 48 kHz with 16 bits a sample, in two interleaved channels."""
        now = time.monotonic()
        # What came before a silence is no part of what comes after it.
        if now - self.heard > 0.3:
            self.samples = []
        self.heard = now
        left = array.array("h", bytes(frame.planes[0])[:4 * frame.samples])[::8]
        self.samples += [sample / 32768 for sample in left]
        while len(self.samples) >= WINDOW:
            self.file.write(f"a {now:.3f} {int(is_tone(self.samples[:WINDOW]))}\n")
            self.samples = self.samples[WINDOW:]

    def take(self, frame, kind):
        (self.see if kind == "video" else self.hear)(frame)


witness = Witness(os.environ["WITNESS"]) if "WITNESS" in os.environ else None
LOOPBACK = os.environ.get("LOOPBACK", "127.0.0.1")
