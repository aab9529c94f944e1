"""Ten outputs of one share: eight of the frames as they are, and two that are encoded once more."""

import os
import time

from bench_kit.figures import medians
from bench_kit.limits import at_least, at_most
from bench_kit.processes import Failure, Process, sleep_until, thread_times, time_between, times_of
from bench_kit.pushing import pushes, share, wait_until_connected
from bench_kit.report import table

from . import server
from .server import Server

SIZE = (1920, 1080)
AS_THEY_ARE = 8
PRESETS = ["low2", "high1"]
#: By name: the outputs as they are, and those that are encoded once more.
CASES = {"none": (0, 0), "eight": (AS_THEY_ARE, 0), "ten": (AS_THEY_ARE, len(PRESETS))}
#: Seconds in which the scene moves before anything counts.
LEAD = 3.0
#: How much more capture may work beside ten outputs than beside none: they ask for a key frame every three seconds.
CAPTURE_SHARE = 1.15
FIRST = "output-1"
missing = server.missing


def measure(bench, folder):
    """One run: figures by case, and what FFmpeg needs to send the same."""
    figures = {}
    kept = os.path.join(folder, "sent.flv")
    for name in CASES:
        own = os.path.join(folder, name)
        os.makedirs(own)
        figures[name] = _measure_case(bench, own, name, kept)
    figures["ffmpeg"] = _measure_ffmpeg(bench, os.path.join(folder, "ffmpeg"), kept, figures["eight"]["lead"])
    return figures


def _measure_case(bench, folder, name, kept):
    as_they_are, encoded = CASES[name]
    options, scene = bench.options, bench.scene(bench.options.scene)
    rtmp = Server(folder)
    room = None
    try:
        # The recording watches, so that capture runs where there is no output too.
        words = ["--record", os.path.join(folder, "share.srr")]
        for number in range(as_they_are):
            words += ["--push", rtmp.url("output-%d" % (number + 1), is_kept=number == 0)]
        for preset in PRESETS[:encoded]:
            words += ["--push", rtmp.url(preset), "--preset", preset]
        room = share(bench, words, scene, LEAD + options.seconds + 2, folder, options.bit_rate)
        wait_until_connected(room, as_they_are + encoded)
        connected = time.monotonic()
        start = room.shown.start() / 1e9 + LEAD
        sleep_until(start)
        before, encoding = room.processor_times(), times_of(room.share.pid, "push encoder")
        sleep_until(start + options.seconds)
        after, encoded_times = room.processor_times(), times_of(room.share.pid, "push encoder")
        listed = pushes(room)
        room.share.require_running()
        if any(one["state"] != "connected" for one in listed):
            raise Failure("a push ended by itself")
        # What is kept must be longer than what is counted of FFmpeg.
        sleep_until(start + options.seconds + 1)
    finally:
        if room:
            room.close()
        if name == "eight":
            _keep(rtmp, kept)
        rtmp.close()
    figures = {who: (after[who] - before[who]) / 1e6 / options.seconds for who in ("host", "capture")}
    figures["encoding"] = time_between(encoding, encoded_times) / 1e6 / options.seconds
    figures["encoders"] = len(encoded_times)
    figures["dropped"] = sum(one.get("droppedPictures", 0) for one in listed)
    figures["lead"] = start - connected
    return figures


def _keep(rtmp, path):
    try:
        os.replace(rtmp.recording(FIRST), path)
    except FileNotFoundError:
        pass  # The run has failed before anything was sent, and says why.


def _measure_ffmpeg(bench, folder, path, lead):
    """Milliseconds a second of each of eight FFmpeg processes that send the recording at its own pace."""
    os.makedirs(folder)
    senders = []
    rtmp = Server(folder)
    try:
        for number in range(AS_THEY_ARE):
            senders.append(Process(
                "ffmpeg", ["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i", path, "-c", "copy", "-f", "flv",
                           rtmp.url("output-%d" % (number + 1))],
                os.path.join(folder, "ffmpeg-%d.log" % number)))
        start = time.monotonic() + lead
        sleep_until(start)
        before = [thread_times(one.pid) for one in senders]
        sleep_until(start + bench.options.seconds)
        for one in senders:
            one.require_running()
        after = [thread_times(one.pid) for one in senders]
    finally:
        for one in senders:
            one.stop()
        rtmp.close()
    worked = sum(time_between(then, now) for then, now in zip(before, after))
    return {"each": worked / 1e6 / bench.options.seconds / AS_THEY_ARE}


def derive(figures):
    """What an output adds, in ms of processor time a second."""
    host = {name: figures[name]["host"] for name in CASES}
    return {"as it is": (host["eight"] - host["none"]) / AS_THEY_ARE,
            "encoded once more": (host["ten"] - host["eight"]) / len(PRESETS),
            "by ffmpeg": figures["ffmpeg"]["each"]}


def tell(runs):
    figures = medians(runs)
    rows = [[name, "%d" % sum(CASES[name]), "%d" % figures[name]["encoders"]]
            + ["%.1f" % figures[name][key] for key in ("capture", "host", "encoding")]
            + ["%d" % figures[name]["dropped"]] for name in CASES]
    lines = table(["case", "outputs", "encoders", "capture ms/s", "host ms/s", "of that encoders", "left out"], rows)
    return lines + [""] + ["An output adds %.2f ms/s %s." % (value, how) for how, value in derive(figures).items()]


def checks(runs):
    figures = medians(runs)
    added, capture = derive(figures), {name: figures[name]["capture"] for name in CASES}
    encoders, dropped = figures["ten"]["encoders"], figures["ten"]["dropped"]
    return [at_most("capture beside ten outputs", capture["ten"] / capture["none"], CAPTURE_SHARE, "of that alone"),
            at_most("an output as it is", added["as it is"], added["by ffmpeg"], "ms/s, as ffmpeg"),
            at_most("encoders of ten outputs", encoders, len(PRESETS), "threads"),
            at_least("encoders of ten outputs", encoders, len(PRESETS), "threads"),
            at_most("pictures left out", dropped, 0, "pictures")]
