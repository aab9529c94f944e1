"""The delay of each way, from when a picture is there for FFmpeg until all of it is at a player of the host."""

import subprocess
import time

from bench_kit.analysis import share
from bench_kit.limits import Check, at_most
from bench_kit.processes import Failure

from . import flv
from .host import PROTOCOLS, ROOMS, Host
from .player import Player
from .sender import RATE, Sender

#: What FFmpeg does without a host: the delay that the others are compared with.
ALONE = "ffmpeg"
WAYS = [ALONE, *PROTOCOLS]
#: Seconds before the first picture that counts, and those that the player must have played by then: at its beginning
#: it gets pictures several times.
LEAD, PLAYED = 8, 4
#: The most that a way may add at p95, in ms: over SRT the host waits 120 ms for lost packets, and a picture in an MPEG
#: transport stream ends where the next one begins.
LIMITS = {"rtmp": 20, "rtsp": 20, "srt": 185}
#: A picture after B-frames is encoded again: one more picture, and the time that this takes.
REENCODING = 80


def measure(bench, _):
    """One run: figures by way and by whether there are B-frames; None for a way that failed twice."""
    figures = {}
    for has_b_frames in (False, True):
        for way in WAYS:
            name, course = title(way, has_b_frames), _alone if way == ALONE else _over
            bench.say("delay: %s" % name)
            one = bench.run_twice(name, lambda folder: course(bench, way, has_b_frames, folder))
            if way == ALONE and one is None:
                raise Failure("nothing to compare with")
            figures[name] = one
            alone = figures[title(ALONE, has_b_frames)]
            if one:
                one.update({"added_" + part: one[part] - alone[part] for part in ("p50", "p95")})
    return figures


def title(way, has_b_frames):
    return "%s, %s" % (way, "B-frames" if has_b_frames else "no B-frames")


def _counted(bench):
    """The numbers of the pictures that count."""
    return range(LEAD * RATE, int((LEAD + bench.options.seconds) * RATE))


def _over(bench, protocol, has_b_frames, folder):
    counted, sender, player = _counted(bench), None, None
    host = Host(bench.program("screenrelay"), bench.options.host_core, folder)
    try:
        sender = Sender(host.output(protocol, ROOMS[0]), has_b_frames, counted.stop + 2 * RATE, folder)
        player = _join(host, sender)
        if player.began > sender.sent[0] + LEAD - PLAYED:
            raise Failure("the first picture is too late")
        sender.wait_for(counted.stop + RATE)
        player.require_playing()
    finally:
        for one in (player, sender, host):
            if one:
                one.close()
    numbers = player.numbers(folder)
    arrived = {}
    # A player that is started again gets pictures once more.
    for number, picture in zip(numbers, player.pictures):
        arrived.setdefault(number, picture.arrived)
    return _figures(counted, sender.sent, arrived)


def _join(host, sender):
    """A player, once the host has pictures."""
    while True:
        sender.process.require_running()
        try:
            return Player(*host.place(ROOMS[0]))
        except Failure:
            if sender.sent and time.monotonic() > sender.sent[0] + LEAD:
                raise
            time.sleep(0.1)


def _alone(bench, _, has_b_frames, folder):
    counted = _counted(bench)
    sender = Sender(flv.OUTPUT, has_b_frames, counted.stop + 2 * RATE, folder, subprocess.PIPE)
    reader = flv.Reader(sender.process)
    try:
        sender.wait_for(counted.stop + RATE)
        sender.process.child.kill()
        arrived = reader.arrived(RATE)
    finally:
        sender.close()
    return _figures(counted, sender.sent, arrived)


def _figures(counted, sent, arrived):
    delays = [(arrived[number] - sent[number]) * 1000 for number in counted if number in arrived]
    if not delays:
        raise Failure("no picture that counts has arrived")
    return {"p50": share(delays, 0.5), "p95": share(delays, 0.95), "max": max(delays),
            "missing": len(counted) - len(delays)}


def checks(figures):
    found = []
    for has_b_frames in (False, True):
        for way, limit in LIMITS.items():
            name = title(way, has_b_frames)
            if name not in figures:
                continue
            found.append(at_most(name + ", added p95", figures[name]["added_p95"],
                                 limit + (REENCODING if has_b_frames else 0), "ms"))
            missing = figures[name]["missing"]
            found.append(Check(name + ", missing", "%d pictures" % missing, "none", missing == 0))
    return found
