"""Short sounds: beeps by a player that writes them far ahead, and how much of each beginning is missing."""

import os
import subprocess
import time
import wave

import numpy

from bench_kit.analysis import share
from bench_kit.bench import REPOSITORY
from bench_kit.limits import at_least, at_most
from bench_kit.processes import Failure, Process, wait_until

from . import limits
from .pulse import RATE
from .stage import Stage

TITLE = "Short sounds"
NOTE = (
    "Beeps of one second, each by a paplay of its own at its default latency of two seconds, so that all of it is in "
    "the sink before it is heard; 4.6 s of silence between them. An aiortc client hears them by WHEP. The pitch of a "
    "beep rises from 300 to 3,000 Hz, so what is heard tells which part of it is missing: its place is where it "
    "correlates best with the beep. Error: the coding smears the beginning by up to 3 ms.")
COLUMNS = ["sink", "beeps", "heard", "missing at the beginning ms p50", "most", "missing at the end ms most", "busy"]
BEEPS, LENGTH, PAUSE = 20, 1.0, 4.6
FIRST, LAST, LOUDNESS = 300, 3000, 0.5
#: Louder than what coding leaves in silence; a beep is over after so many seconds below it.
LOUD, QUIET = 0.05, 0.1
NEVER, IDLE = "is never suspended", "is suspended after 5 s"
CLIENT = os.path.join(REPOSITORY, "Tests", "EndToEndTests", "Clients", "whep_player.py")
ENVIRONMENT = os.path.join(".build", "python", "rtc")


def cases(_):
    return [NEVER, IDLE]


def skipped(_):
    """Why it can't be measured on this machine; None if it can."""
    if os.path.exists(os.path.join(REPOSITORY, ENVIRONMENT, "requirements.txt")):
        return None
    return "%s is missing or not whole; Tools/python makes it" % ENVIRONMENT


def beep():
    """Pure: its samples."""
    times = numpy.arange(int(RATE * LENGTH)) / RATE
    return LOUDNESS * numpy.sin(2 * numpy.pi * (FIRST + (LAST - FIRST) / (2 * LENGTH) * times) * times)


def measure(bench, folder, case):
    path, heard = os.path.join(folder, "beep.wav"), os.path.join(folder, "heard.pcm")
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((beep() * 32767).astype("<i2").tobytes())
    with Stage(bench, folder, suspends=case == IDLE) as stage:
        address, fragment = stage.room.printed_link.split("/#")
        room, token = fragment.split(",")
        client = Process("client", [
            os.path.join(REPOSITORY, ENVIRONMENT, "bin", "python"), "-B", CLIENT, "%s/whep/%s" % (address, room),
            "--token", token, "--sound", heard], os.path.join(folder, "client.log"), stdin=subprocess.PIPE)
        stage.callback(client.stop)
        wait_until(lambda: "frame" in client.last_words(), 20, "a picture at the client")
        # The first one comes after a rest, too.
        start = time.monotonic() + PAUSE
        stage.begin_account()
        for number in range(BEEPS):
            time.sleep(max(0.0, start + number * (LENGTH + PAUSE) - time.monotonic()))
            done = subprocess.run(["paplay", path], env=dict(os.environ, **stage.pulse.environment), timeout=30)
            if done.returncode != 0:
                raise Failure("paplay failed: %d" % done.returncode)
            client.require_running()
        busy = stage.busy()
        time.sleep(2)
        stage.room.share.require_running()
    samples = numpy.fromfile(heard, "<i2")[::2] / 32768
    bench.keep(folder, "beeps", {"case": case, "samples": len(samples)})
    return dict(figures(samples), busy=busy)


def figures(samples):
    """Pure: what was heard in, figures out."""
    pattern, missing, cut = beep(), [], []
    loud = numpy.flatnonzero(numpy.abs(samples) >= LOUD)
    if not loud.size:
        raise Failure("nothing was heard")
    breaks = numpy.flatnonzero(numpy.diff(loud) > QUIET * RATE)
    for first, last in zip(loud[numpy.append(0, breaks + 1)], loud[numpy.append(breaks, loud.size - 1)]):
        piece = samples[first:last + 1]
        size = 1 << (len(piece) + len(pattern) - 1).bit_length()
        score = numpy.fft.irfft(numpy.fft.rfft(piece, size) * numpy.conj(numpy.fft.rfft(pattern, size)), size)
        place = int(numpy.argmax(score))
        # Where the beep began, from the first loud sample.
        place -= size if place > size // 2 else 0
        missing.append(max(0.0, -1000 * place / RATE))
        cut.append(max(0.0, 1000 * (place + len(pattern) - len(piece)) / RATE))
    return {"beeps": BEEPS, "heard": len(missing), "missing_p50_ms": share(missing, 0.5),
            "missing_most_ms": max(missing), "cut_most_ms": max(cut), "series": missing}


def row(one):
    return ["%d" % one[key] for key in ("beeps", "heard")] + [
        "%.0f" % one[key] for key in ("missing_p50_ms", "missing_most_ms", "cut_most_ms")] + [
        "%.0f %%" % (100 * one["busy"])]


def checks(case, one):
    return [at_least("beeps, the sink %s, heard" % case, one["heard"], BEEPS, "beeps"),
            at_most("beeps, the sink %s, missing at the beginning" % case, one["missing_most_ms"], limits.MISSING,
                    "ms")]
