"""Cheap: what sound costs the host and its capture, while nothing plays and while a tone does."""

import os
import time

from bench_kit.limits import at_most
from bench_kit.processes import Failure, Process, peak_memory, thread_times, time_between, wait_until

from . import limits, tone
from .pulse import RATE, SINK, Player
from .stage import Stage

TITLE = "Processor time"
NOTE = (
    "Processor time of the host and of the capture of sound, by the kernel's account, with one page that listens and a "
    "screen that stands still, so that the capture of pictures is not in it. What sound costs is both together, less "
    "the host's of a share without --sound. The range is that of the tenths of the time. A wake-up is a "
    "voluntary context switch. Errors: the account itself is exact; how much the host's own figure differs between two "
    "shares is what the ranges show. Peak memory (VmHWM) is in MB of 10^6 bytes. The peers capture the same tone, code "
    "it as Opus with as long packets and as many bits, and send it to nobody as RTP without encryption.")
COLUMNS = ["case", "host ms/s", "range", "capture of sound ms/s", "range", "sound costs ms/s", "host wake-ups/s",
           "capture's wake-ups/s", "peak MB", "busy"]
SECONDS, PARTS = 30, 10
#: Seconds until a share, a page or a tone that has begun is at rest.
REST = 8.0
LATENCY = 50  # ms, that PulseAudio keeps ready, as players of films do
WITHOUT, SILENT, PLAYING = "without", "silent", "playing"
NAMES = {WITHOUT: "without --sound", SILENT: "--sound, nothing plays", PLAYING: "--sound, a tone plays"}
MONITOR, PORT = SINK + ".monitor", 50_990
PEERS = {
    "ffmpeg": ["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "pulse", "-fragment_size", "3840", "-i", MONITOR,
               "-c:a", "libopus", "-b:a", "128k", "-frame_duration", "20", "-application", "lowdelay",
               "-f", "rtp", "rtp://127.0.0.1:%d" % PORT],
    "gstreamer": ["gst-launch-1.0", "-q", "pulsesrc", "device=" + MONITOR, "buffer-time=40000", "latency-time=20000",
                  "!", "audioconvert", "!", "opusenc", "bitrate=128000", "frame-size=20",
                  "!", "rtpopuspay", "!", "udpsink", "host=127.0.0.1", "port=%d" % PORT]}


def cases(_):
    return ["one page"]


def measure(bench, folder, _):
    """All three, and the peers, so that they are of one time."""
    found = {}
    for has_sound in (False, True):
        own = os.path.join(folder, "s" if has_sound else "n")
        os.makedirs(own)
        with Stage(bench, own, has_sound=has_sound) as stage:
            viewer = stage.add_viewer()
            if not has_sound:
                time.sleep(REST)
                found.update(_cost(stage, WITHOUT))
                continue
            viewer.turn_on_sound()
            time.sleep(REST)
            found.update(_cost(stage, SILENT))
            stage.add(Player(tone.second(RATE), LATENCY, own, stage.pulse.environment))
            stage.wait_for_packets(viewer)
            time.sleep(REST)
            packets = viewer.sound().get("packetsReceived", 0)
            found.update(_cost(stage, PLAYING))
            if viewer.sound().get("packetsReceived", 0) - packets < 45 * SECONDS:
                raise Failure("fewer than 45 packets of sound a second came to the page")
            found["memory"] = peak_memory(stage.sound_pid()) * 1024 / 1e6
            for name, command in PEERS.items():
                peer = Process(name, command, os.path.join(own, name + ".log"), stage.pulse.environment)
                try:
                    time.sleep(REST)
                    found.update(_account(stage, name, {"peer": peer.pid}))
                    peer.require_running()
                    if found[name + "_peer"] < 1:
                        raise Failure("%s does nothing" % name)
                finally:
                    peer.stop()
    for case in (SILENT, PLAYING):
        found[case + "_cost"] = found[case + "_host"] + found[case + "_sound"] - found[WITHOUT + "_host"]
    return found


def _cost(stage, case):
    processes = {"host": stage.room.share.pid}
    if case != WITHOUT:
        wait_until(lambda: stage.sound_pid() is not None, 10, "that the capture of sound runs")
        processes["sound"] = stage.sound_pid()
    return _account(stage, case, processes)


def _account(stage, case, processes):
    """Milliseconds a second and wake-ups a second of each process."""
    stage.begin_account()
    looks = [_look(processes)]
    for part in range(PARTS):
        time.sleep(max(0.0, looks[0]["time"] + (part + 1) * SECONDS / PARTS - time.monotonic()))
        looks.append(_look(processes))
    stage.room.share.require_running()
    found = {case + "_busy": stage.busy()}
    for name in processes:
        rates = [_rate(before, after, name) for before, after in zip(looks, looks[1:])]
        found["%s_%s" % (case, name)] = _rate(looks[0], looks[-1], name)
        found["%s_%s_least" % (case, name)], found["%s_%s_most" % (case, name)] = min(rates), max(rates)
        woken = time_between(*(look[name]["wakes"] for look in (looks[0], looks[-1])))
        found["%s_%s_wakes" % (case, name)] = woken / (looks[-1]["time"] - looks[0]["time"])
    return found


def _look(processes):
    return {"time": time.monotonic(),
            **{name: {"times": thread_times(pid), "wakes": _wakes(pid)} for name, pid in processes.items()}}


def _rate(before, after, name):
    return time_between(before[name]["times"], after[name]["times"]) / 1e6 / (after["time"] - before["time"])


def _wakes(pid):
    """How often each thread has slept of its own accord."""
    wakes = {}
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/status" % (pid, task)) as file:
                wakes[task] = next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
        except OSError:
            continue  # the thread has just ended
    return wakes


def rows(_, one):
    """One for each of the three, and for each peer."""
    def cells(case, name):
        if "%s_%s" % (case, name) not in one:
            return ["–", "–"]
        value, least, most = (one["%s_%s%s" % (case, name, end)] for end in ("", "_least", "_most"))
        return ["%.2f" % value, "%.2f to %.2f" % (least, most)]

    def wakes(case, name):
        value = one.get("%s_%s_wakes" % (case, name))
        return "–" if value is None else "%.1f" % value

    for case, title in NAMES.items():
        cost = one.get(case + "_cost")
        yield [title, *cells(case, "host"), *cells(case, "sound"), "–" if cost is None else "%.2f" % cost,
               wakes(case, "host"), wakes(case, "sound"), "%.1f" % one["memory"] if case == PLAYING else "–",
               "%.0f %%" % (100 * one[case + "_busy"])]
    for name in PEERS:
        yield [name + ", the same tone", "–", "–", *cells(name, "peer"), "%.2f" % one[name + "_peer"], "–",
               wakes(name, "peer"), "–", "%.0f %%" % (100 * one[name + "_busy"])]


def checks(_, one):
    return [at_most("idle, what --sound costs while nothing plays", one[SILENT + "_cost"], limits.SILENT_CPU, "ms/s"),
            at_most("idle, what --sound costs while a tone plays", one[PLAYING + "_cost"], limits.PLAYING_CPU, "ms/s"),
            at_most("idle, peak memory of the capture of sound", one["memory"], limits.MEMORY, "MB")]
