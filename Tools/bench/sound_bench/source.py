"""The process that flashes and beeps: usage: source DISPLAY WIDTH HEIGHT HUM FASTER FOLDER.

Once a second it plays a beep of 1 kHz, and when that is heard on the sink, it flashes the display. HUM is the amplitude
of a tone under the beeps; 0 for silence. FASTER: by how many millionths the sink's clock is to run faster than this
machine's; 0 for a sink that has this one. It says "ready" when it begins to flash. At the end of standard input it
prints one JSON object: "beeps", when each was heard, and "flashes": when each was drawn, and how long that took. Times
are seconds of CLOCK_MONOTONIC.
"""

import gc
import json
import os
import select
import signal
import sys
import time

import numpy

from bench_kit.processes import Failure, wait_until

from .pulse import RATE, Ear, Player, Speaker
from .screen import Screen

BEEP_SECONDS, FLASH_SECONDS = 0.050, 0.100
BEEP, HUM = 1000, 200  # Hz
LOUDNESS = 0.5
#: Milliseconds of sound that PulseAudio keeps ready.
LATENCY = 10


def second(hum):
    times = numpy.arange(RATE) / RATE
    samples = hum * numpy.sin(2 * numpy.pi * HUM * times)
    samples += LOUDNESS * numpy.sin(2 * numpy.pi * BEEP * times) * (times < BEEP_SECONDS)
    return samples


def main():
    display, width, height, hum, faster, folder = sys.argv[1:]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        # A late flash is not measured as delay, but it should be at the time of the beep.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        pass
    gc.disable()
    screen = Screen(display, (int(width), int(height)))
    ear = Speaker(folder, float(faster)) if float(faster) else Ear(folder)
    try:
        player = Player(second(float(hum)), LATENCY, folder)
        try:
            wait_until(lambda: len(ear.onsets) >= 3, 20, "the third beep")
            print("ready", flush=True)
            flashes = flash(screen, ear)
        finally:
            player.close()
        beeps = [ear.heard(onset) for onset in ear.onsets]
        print(json.dumps({"beeps": beeps, "flashes": flashes}), flush=True)
    finally:
        ear.close()


def flash(screen, ear):
    """Flashes with each beep, until the end of standard input."""
    flashes = []
    while True:
        ear.process.require_running()
        # The latest beep tells when the next one will be heard.
        due = ear.heard(ear.onsets[-1]) + 1
        while due < time.monotonic():
            due += 1
        if select.select([0], [], [], max(0.0, due - time.monotonic()))[0]:
            return flashes
        before = time.monotonic()
        screen.paint(True)
        after = time.monotonic()
        flashes.append(((before + after) / 2, after - before))
        time.sleep(max(0.0, before + FLASH_SECONDS - time.monotonic()))
        screen.paint(False)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(1)
