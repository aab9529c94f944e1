"""Ten outputs of one share: eight of the frames as they are, and two that are encoded once more."""

import os
import time

from capture_bench.limits import at_least, at_most
from capture_bench.processes import Failure, Process, thread_times, time_between

from .server import Server
from .share import pushes, share, sleep_until, wait_until_connected

AS_THEY_ARE = 8
PRESETS = ["low2", "high1"]
#: By name: the outputs as they are, and those that are encoded once more.
CASES = {"none": (0, 0), "eight": (AS_THEY_ARE, 0), "ten": (AS_THEY_ARE, len(PRESETS))}
#: Seconds in which the scene moves before anything counts.
LEAD = 3.0
#: How much more capture may work beside ten outputs than beside none: they ask for a key frame every three seconds.
CAPTURE_SHARE = 1.15
FIRST = "output-1"


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
    server = Server(folder)
    room = None
    try:
        # The recording watches, so that capture runs where there is no output too.
        words = ["--record", os.path.join(folder, "share.srr")]
        for number in range(as_they_are):
            words += ["--push", server.url("output-%d" % (number + 1), is_kept=number == 0)]
        for preset in PRESETS[:encoded]:
            words += ["--push", server.url(preset), "--preset", preset]
        room = share(bench, words, scene, LEAD + options.seconds + 2, folder, options.bit_rate)
        wait_until_connected(room, as_they_are + encoded)
        connected = time.monotonic()
        start = room.shown.start() / 1e9 + LEAD
        sleep_until(start)
        before, encoding = room.processor_times(), _encoder_times(room.share.pid)
        sleep_until(start + options.seconds)
        after, encoded_times = room.processor_times(), _encoder_times(room.share.pid)
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
            _keep(server, kept)
        server.close()
    figures = {who: (after[who] - before[who]) / 1e6 / options.seconds for who in ("host", "capture")}
    figures["encoding"] = time_between(encoding, encoded_times) / 1e6 / options.seconds
    figures["encoders"] = len(encoded_times)
    figures["dropped"] = sum(one.get("droppedPictures", 0) for one in listed)
    figures["lead"] = start - connected
    return figures


def _keep(server, path):
    try:
        os.replace(server.recording(FIRST), path)
    except FileNotFoundError:
        pass  # The run has failed before anything was sent, and says why.


def _encoder_times(pid):
    """Nanoseconds of each thread that encodes for outputs."""
    encoders = set()
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/comm" % (pid, task)) as file:
                if file.read().strip() == "push encoder":
                    encoders.add(task)
        except OSError:
            continue  # the thread has just ended
    return {task: time for task, time in thread_times(pid).items() if task in encoders}


def _measure_ffmpeg(bench, folder, path, lead):
    """Milliseconds a second of each of eight FFmpeg processes that send the recording at its own pace."""
    os.makedirs(folder)
    senders = []
    server = Server(folder)
    try:
        for number in range(AS_THEY_ARE):
            senders.append(Process(
                "ffmpeg", ["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i", path, "-c", "copy", "-f", "flv",
                           server.url("output-%d" % (number + 1))],
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
        server.close()
    worked = sum(time_between(then, now) for then, now in zip(before, after))
    return {"each": worked / 1e6 / bench.options.seconds / AS_THEY_ARE}


def derive(figures):
    """What an output adds, in ms of processor time a second."""
    host = {name: figures[name]["host"] for name in CASES}
    return {"as it is": (host["eight"] - host["none"]) / AS_THEY_ARE,
            "encoded once more": (host["ten"] - host["eight"]) / len(PRESETS),
            "by ffmpeg": figures["ffmpeg"]["each"]}


def checks(figures):
    added, capture = derive(figures), {name: figures[name]["capture"] for name in CASES}
    encoders, dropped = figures["ten"]["encoders"], figures["ten"]["dropped"]
    return [at_most("capture beside ten outputs", capture["ten"] / capture["none"], CAPTURE_SHARE, "of that alone"),
            at_most("an output as it is", added["as it is"], added["by ffmpeg"], "ms/s, as ffmpeg"),
            at_most("encoders of ten outputs", encoders, len(PRESETS), "threads"),
            at_least("encoders of ten outputs", encoders, len(PRESETS), "threads"),
            at_most("pictures left out", dropped, 0, "pictures")]
