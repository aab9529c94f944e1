"""A push of 1 Mbit/s by RTMP over a path that becomes narrow for a while, with and without an adaptive rate."""

import os
import subprocess
import time

from bench_kit.figures import medians
from bench_kit.limits import at_least, at_most
from bench_kit.namespaces import HostNetwork, Path, obstacle
from bench_kit.path import settings
from bench_kit.processes import Failure, sleep_until, wait_until
from bench_kit.pushing import pushes, share, wait_until_connected
from bench_kit.report import table

from . import server
from .server import Server

SIZE = (1920, 1080)
PORT = 1935
#: It needs all of its rate, whatever that is.
SCENE = "video"
#: Bits a second: of the push, of the narrow path, and the least that the adaptive rate may be.
FULL, NARROW, LEAST = 1_000_000, 300_000, 150_000
#: Seconds before the path becomes narrow, while it is, and afterwards.
BEFORE, DURING, AFTER = 15, 40, 40
#: Seconds until the push has found the rate of the path, and until it is back.
SETTLING, BACK = 20, 30
#: It is back at this share of what it sent before, over so many seconds.
BACK_SHARE, WINDOW = 0.8, 3
#: The most pictures that are left out then, as a share of those of a rate that doesn't adapt. The system takes 128 kB
#: before the push notices, so it can't be none.
LEFT_OUT = 0.25
DELAY = 20.0
#: With and without an adaptive rate: the words behind --push.
CASES = {"adaptive": ["--preset", "size=640x360,bitrate=%d,adapt=%d" % (FULL, LEAST)],
         "fixed": ["--preset", "size=640x360,bitrate=%d" % FULL]}


def missing():
    """Why it can't be measured; None if it can."""
    return server.missing() or obstacle()


def measure(bench, folder):
    """One run: figures by case."""
    figures = {}
    for name, words in CASES.items():
        own = os.path.join(folder, name)
        os.makedirs(own)
        figures[name] = _measure_case(bench, own, words)
    return figures


def _measure_case(bench, folder, words):
    scene, started = bench.scene(SCENE), []
    try:
        network = HostNetwork(folder)
        started.append(network)
        path = Path(network, 1, 1, folder)
        started.append(path)
        wide, narrow = settings(delay=DELAY), settings(delay=DELAY, rate=NARROW)
        path.change(time.monotonic(), "before", wide, wide)
        rtmp = Server(folder, path.viewer_address, PORT, path.prefix)
        started.append(rtmp)
        room = share(bench, ["--push", rtmp.url("key", is_kept=True), *words], scene, BEFORE + DURING + AFTER + 1,
                     folder, bench.options.bit_rate, network)
        started.append(room)
        wait_until_connected(room, 1)
        start = room.shown.start() / 1e9
        ends = [start + BEFORE, start + BEFORE + DURING, start + BEFORE + DURING + AFTER]
        path.change(ends[0], "narrow", narrow, wide)
        path.change(ends[1], "after", wide, wide)
        dropped = _follow(room, ends[2])
        arrived = path.report()["down"]["bytes"]
        room.close()
        wait_until(rtmp.has_lost, 20, "the end of the push")
        faults = _faults(rtmp.recording("key"))
    finally:
        for one in reversed(started):
            one.close()
    return _figures(start, ends, arrived, dropped, faults)


def _follow(room, until):
    """The times and counts of the pictures that were left out, once a second until then."""
    dropped = []
    while time.monotonic() < until:
        sleep_until(min(until, time.monotonic() + 1))
        room.share.require_running()
        for one in pushes(room):
            if one["state"] != "connected":
                raise Failure("the push is %s (%s)" % (one["state"], one.get("reason")))
            dropped.append((time.monotonic(), one.get("droppedPictures", 0)))
    return dropped


def _faults(path):
    """What FFmpeg complains of when it decodes the recording."""
    # Times as they are: pictures may come sooner after one another than the rate that FFmpeg guesses.
    command = ["ffmpeg", "-nostdin", "-v", "error", "-xerror", "-i", path, "-fps_mode", "passthrough",
               "-enc_time_base", "-1", "-f", "null", "-"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    words = result.stderr.strip()
    return words or ("" if result.returncode == 0 else "exit code %d" % result.returncode)


def _figures(start, ends, arrived, dropped, faults):
    def rate(begin, end):
        return sum(size for when, size in arrived if begin <= when < end) * 8 / (end - begin)

    def left_out(begin, end):
        counts = [count for when, count in dropped if begin <= when < end]
        return counts[-1] - counts[0] if counts else 0

    before, settled = rate(start + 5, ends[0]), ends[0] + SETTLING
    # When the path becomes wide, all that waits in it arrives at once.
    narrow = rate(settled, ends[1] - 0.2)
    second = ends[1]
    while second + WINDOW <= ends[2] and rate(second, second + WINDOW) < BACK_SHARE * before:
        second += 1
    is_back = second + WINDOW <= ends[2]
    return {"before": before, "narrow": narrow, "left_out": left_out(ends[0], ends[1]),
            "left_out_settled": left_out(settled, ends[1]),
            "back": second + WINDOW - ends[1] if is_back else float(AFTER), "faults": faults}


def tell(runs):
    rows = [[name, "%.0f" % (one["before"] / 1000), "%.0f" % (one["narrow"] / 1000), "%d" % one["left_out"],
             "%d" % one["left_out_settled"], "%.0f" % one["back"], (one["faults"] or "none").split("\n")[0]]
            for name, one in medians(runs).items()]
    return table(["rate", "before kbit/s", "narrow kbit/s", "left out", "of that settled", "back after s",
                  "decode errors"], rows)


def checks(runs):
    figures = medians(runs)
    found = []
    for name, one in figures.items():
        found.append(at_most(name + ", decode errors", len((one["faults"] or "").splitlines()), 0, "lines"))
    adaptive, fixed = figures["adaptive"], figures["fixed"]
    found += [at_least("adaptive, rate before", adaptive["before"], BACK_SHARE * FULL, "bit/s"),
              at_most("adaptive, pictures left out once it has settled", adaptive["left_out_settled"],
                      LEFT_OUT * figures["fixed"]["left_out_settled"], "pictures"),
              at_least("adaptive, rate on the narrow path", adaptive["narrow"], LEAST, "bit/s"),
              at_most("adaptive, rate on the narrow path", adaptive["narrow"], NARROW * 1.02, "bit/s"),
              at_most("adaptive, back after", adaptive["back"], BACK, "s"),
              at_least("fixed, pictures left out", fixed["left_out"], 1, "pictures")]
    return found
