"""Twenty publishers at one host: what each one costs, and which pictures are missing."""

import itertools
import math
import os
import signal
import subprocess
import time

from bench_kit.analysis import share
from bench_kit.limits import at_least, at_most
from bench_kit.processes import Failure, Missing, Process, sleep_until, wait_until

from . import flv, sender
from .host import PROTOCOLS, ROOMS, Host
from .player import Player

#: By protocol: how many publish, and into which room.
PUBLISHERS = {"rtmp": (10, ROOMS[0]), "srt": (5, ROOMS[1]), "rtsp": (5, ROOMS[1])}
COUNT = sum(count for count, _ in PUBLISHERS.values())
SIZE, RATE = (1280, 720), 30
#: FFmpeg's words before and after the file that it sends.
SEND, COPY = ["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i"], ["-c", "copy", "-flush_packets", "1"]
#: Seconds of what is encoded; the file has it over and over.
LENGTH = 10
#: Seconds: the longest start of one protocol's publishers, the time before anything is measured, the players' time, and
#: the last part of it, which counts.
START, LEAD, PLAYING, PLAYED = 20, 5.0, 15.0, 10.0
#: The least share of the pictures that viewers could get: the host counts them at two times, between two pictures.
TAKEN = 0.998
#: Milliseconds of CPU time per second and publisher, with which twenty of them leave a tenth of a processor, and the
#: milliseconds that the host may add at p95 to the spread of FFmpeg's own delays.
CPU, SPREAD = 45, 20


def measure(bench, folder):
    """One run: figures by protocol, and of all."""
    video = _video(bench)
    host = Host(bench.program("screenrelay"), bench.options.host_core, folder)
    senders, players, alone = [], {}, None
    try:
        for protocol, (count, room) in PUBLISHERS.items():
            for number in range(count):
                senders.append(Process(
                    "ffmpeg", [*SEND, video, *COPY, *host.output(protocol, room, "%s%d" % (protocol, number))],
                    os.path.join(folder, "%s%d.log" % (protocol, number))))
            # Starting all twenty at once would take too long on one processor.
            wait_until(lambda: _publishers(host, senders) == len(senders), START,
                       "the start of %d publishers" % len(senders))
        # Neither this nor the other one is a wait for anything: pictures come meanwhile.
        time.sleep(LEAD)
        before, begin = _state(host)
        sleep_until(begin + bench.options.seconds_many)
        after, end = _state(host)
        alone = Process("ffmpeg", [*SEND, video, *COPY, *flv.OUTPUT], os.path.join(folder, "alone.log"),
                        stdout=subprocess.PIPE)
        reader = flv.Reader(alone)
        for protocol, (_, room) in PUBLISHERS.items():
            players[protocol] = Player(*host.place(room, protocol + "0"))
        time.sleep(PLAYING)
        for one in players.values():
            one.require_playing()
        alone.require_running()
        if _publishers(host, senders) != COUNT:
            raise Failure("a publisher has left")
        alone.child.terminate()
        arrived = reader.arrived(RATE)
    finally:
        for one in players.values():
            one.close()
        for one in [*senders, alone]:
            if one:
                one.stop(signal.SIGKILL)
        host.close()
    played = {protocol: _played(list(zip(one.numbers(folder), (each.arrived for each in one.pictures))))
              for protocol, one in players.items()}
    played["ffmpeg"] = _played(sorted(arrived.items()))
    return _figures(before, after, end - begin, played)


def _video(bench):
    """The file that all publishers send: H.264 without B-frames, 2 Mbit/s, and a key frame per second."""
    path = os.path.join(bench.folder, "sent.mp4")
    if not os.path.exists(path):
        part = _ffmpeg(*sender.raw(SIZE, RATE), "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency",
                       "-b:v", "2M", "-maxrate", "2M", "-bufsize", "1M", "-g", str(RATE), "-sc_threshold", "0", "-f",
                       "h264", "pipe:1", stdin=b"".join(sender.pictures(SIZE, LENGTH * RATE)))
        seconds = START * len(PUBLISHERS) + LEAD + bench.options.seconds_many + PLAYING
        # FFmpeg's own -stream_loop leaves a gap of a picture's time.
        _ffmpeg("-f", "h264", "-framerate", str(RATE), "-i", "pipe:0", "-c", "copy", "-y", path,
                stdin=part * math.ceil(seconds / LENGTH))
    return path


def _ffmpeg(*words, stdin):
    made = subprocess.run(["ffmpeg", "-loglevel", "error", *words], input=stdin, capture_output=True, timeout=60)
    if made.returncode:
        raise Missing("ffmpeg can't make the video: %s" % made.stderr.strip()[-400:].decode(errors="replace"))
    return made.stdout


def _publishers(host, senders):
    """How many publish; a Failure if the host or a sender has ended."""
    for one in [host.process, *senders]:
        one.require_running()
    return sum(value for name, value in host.metrics().items() if name.startswith("publishers{"))


def _state(host):
    """CPU time by thread, the pictures that viewers could get so far, and when that was."""
    threads = host.threads()
    pictures = host.metrics()["published_pictures_total"]
    return {"threads": threads, "pictures": pictures}, time.monotonic()


def _figures(before, after, seconds, played):
    used = {name: time - before["threads"].get(name, 0) for name, time in after["threads"].items()}
    figures = {}
    for protocol, (count, _) in PUBLISHERS.items():
        # Those of the protocol's server, of its publishers, and of libsrt.
        own = sum(time for name, time in used.items() if name.lower().startswith(protocol))
        figures[protocol] = {"publishers": count, "cpu": own / 1e6 / seconds / count, **played[protocol]}
    total = sum(used.values()) / 1e6 / seconds
    # The host decodes all tracks beside their way, for snapshots and as a check.
    decoding = used.get("decode-tap", 0) / 1e6 / seconds
    figures["all"] = {"publishers": COUNT, "cpu": total / COUNT, "percent": total / 10,
                      "decoding_percent": decoding / 10,
                      "taken": (after["pictures"] - before["pictures"]) / (COUNT * RATE * seconds)}
    figures["ffmpeg"] = played["ffmpeg"]
    return figures


def _played(pictures):
    """Of numbers and times of pictures, in the last seconds: how many are missing, and how much later they came than
    the earliest one, by the pace of their numbers."""
    if pictures:
        pictures = [one for one in pictures if one[1] > pictures[-1][1] - PLAYED]
    if len(pictures) < PLAYED * RATE / 2 or any(number is None for number, _ in pictures):
        raise Failure("a player got only %d pictures, or some that can't be read" % len(pictures))
    # The file has the same numbers over and over.
    steps = [(number - former) % (LENGTH * RATE) for (former, _), (number, _) in zip(pictures, pictures[1:])]
    delays = [arrived * 1000 - position * 1000 / RATE
              for position, (_, arrived) in zip(itertools.accumulate(steps, initial=0), pictures)]
    return {"played": len(pictures), "missing": sum(steps) - len(steps),
            "spread_p95": share(delays, 0.95) - min(delays), "spread_max": max(delays) - min(delays)}


def checks(figures):
    found = [at_most("CPU time of a publisher", figures["all"]["cpu"], CPU, "ms per second"),
             at_least("pictures that viewers could get", figures["all"]["taken"], TAKEN, "of those sent")]
    for protocol in PROTOCOLS:
        one = figures[protocol]
        found += [at_most(protocol + ", missing at a player", one["missing"], 0, "pictures"),
                  at_most(protocol + ", spread of the delay at p95 above FFmpeg's own",
                          one["spread_p95"] - figures["ffmpeg"]["spread_p95"], SPREAD, "ms")]
    return found
