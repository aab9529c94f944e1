"""How true to its times a recording is replayed: the bytes of every message, and how far apart the messages are."""

import os
import signal
import subprocess
import time

from bench_kit.display import Display
from bench_kit.limits import at_most
from bench_kit.processes import Failure, Process, own_settings, wait_until
from bench_kit.recorded import connections
from bench_kit.report import Section

from .limits import REPLAY_OFF

#: What is recorded, and for how many seconds.
SCENE, SIZE, SECONDS = "desktop", (1280, 720), 60
HOST = ["--no-config", "--listen", "127.0.0.1:0", "--udp-port", "0", "--log", "warning"]


def replay(bench):
    section = Section(
        "replay", "A recording, replayed",
        "A share of the demonstration scene is recorded, and its recording is sent to another host, which records what "
        "arrives. Off: how far each message is from where the others put it, in ms.",
        ["messages", "bytes", "seconds", "p50 ms", "p95 ms", "p99 ms", "largest ms"])
    bench.report.sections.append(section)
    folder = bench.new_folder()
    recorded = _record(bench, folder)
    before, after = connections(recorded), connections(_replay(bench, folder, recorded))
    if len(before) != 1 or len(after) != 1 or not before[0]:
        raise Failure("%d connections were recorded and %d arrived; one is wanted" % (len(before), len(after)))
    before, after = before[0], after[0]
    if [one.data for one in before] != [one.data for one in after]:
        raise Failure("what arrived is not what was recorded: %d messages, %d" % (len(before), len(after)))
    # When a replay begins doesn't matter.
    delays = sorted(there.arrival - here.arrival for here, there in zip(before, after))
    off = sorted(abs(delay - delays[len(delays) // 2]) / 1e6 for delay in delays)
    figures = [off[min(len(off) - 1, int(len(off) * part))] for part in (0.5, 0.95, 0.99, 1)]
    section.add(len(before), sum(one.length for one in before),
                "%.1f" % ((before[-1].arrival - before[0].arrival) / 1e9), *("%.3f" % one for one in figures))
    bench.say("replay: %d messages, off by p50 %.3f ms, p95 %.3f ms, p99 %.3f ms, at most %.3f ms" % (
        len(before), *figures))
    bench.report.checks.append(at_most("a replayed message is off, p99", figures[2], REPLAY_OFF, "ms"))


class Host:
    """`screenrelay host --record`, or `share --record` with the words for it."""

    def __init__(self, bench, folder, name, words):
        self.path = os.path.join(folder, name + ".srr")
        self.process = Process(name, [bench.program("screenrelay"), *words, "--record", self.path, *HOST],
                               os.path.join(folder, name + ".log"), own_settings(folder))

    def finish(self):
        self.process.stop(signal.SIGINT)
        if self.process.child.returncode != 0:
            raise Failure("%s ended with %d: %s" % (
                self.process.name, self.process.child.returncode, self.process.last_words()))


def _record(bench, folder):
    """Shares the scene for so long; gives the recording's path."""
    with Display(SIZE, folder) as display:
        scene = Process("scene", [bench.scene_program, "--display", display.name, "--scene", SCENE],
                        os.path.join(folder, "scene.log"))
        try:
            share = Host(bench, folder, "share", ["share", "--display", display.name])
            try:
                # Not a wait for anything: it is the length of the recording.
                time.sleep(5 if bench.options.quick else SECONDS)
                share.process.require_running()
            finally:
                share.finish()
        finally:
            scene.stop()
    return share.path


def _replay(bench, folder, path):
    """Replays the recording to a host; gives the path of what that recorded."""
    link = os.path.join(folder, "s")
    host = Host(bench, folder, "host", ["host", "--link", "unix:" + link])
    try:
        wait_until(lambda: os.path.exists(link), 15, "the host's link")
        result = subprocess.run(
            [bench.program("screenrelay"), "replay", "--no-config", "--link", "unix:" + link, path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS + 60)
        if result.returncode != 0:
            raise Failure("replay ended with %d: %s" % (result.returncode, result.stdout.strip()))
    finally:
        host.finish()
    return host.path
