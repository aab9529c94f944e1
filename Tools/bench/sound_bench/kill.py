"""Back after a kill: the capture of sound is killed, and sound comes again while pictures go on."""

import os
import signal
import time

from bench_kit.analysis import share
from bench_kit.limits import at_least, at_most
from bench_kit.processes import Failure, wait_until

from . import limits, tone
from .pulse import RATE, Player
from .stage import Stage

TITLE = "Back after a kill"
NOTE = (
    "From SIGKILL to the capture of sound until the page's packetsReceived of sound grows again, while a tone plays "
    "and a page of text scrolls; and the longest time in which framesDecoded stood still, from the first kill to 3 s "
    "after the last. Of a kill are the pauses that begin within 0.3 s of it, and longer ones than 0.2 s up to 3 s after "
    "it. Error: the browser renews its counters every 50 ms, so that each may be up to 100 ms too long, and the counter "
    "stands still for up to 150 ms while nothing is wrong.")
COLUMNS = ["kills", "sound was back", "after ms p50", "after ms most", "pictures stood still ms", "busy"]
#: Seconds: between kills, until when a pause after a kill may begin to be its, and how long to wait for sound.
BETWEEN, PAUSE, TIMEOUT = 3.0, 3.0, 10.0
#: Seconds: until when also a pause may that is no longer than the counter's own, and how long those are.
SOON, USUAL = 0.3, 0.2
COUNT_EVERY = 50  # ms
LATENCY = 50


def cases(_):
    return ["%d" % limits.KILLS]


def measure(bench, folder, _):
    scene = bench.scene("scroll")
    # The scene moves for longer than this can take.
    ticks = scene.ticks(60 + limits.KILLS * (BETWEEN + 2 * TIMEOUT))
    with Stage(bench, folder, "scroll", ticks) as stage:
        stage.add(Player(tone.second(RATE), LATENCY, folder, stage.pulse.environment))
        viewer = stage.add_viewer()
        viewer.turn_on_sound()
        stage.room.shown.start()
        viewer.evaluate("soundBench.countEvery(%d)" % COUNT_EVERY)
        stage.wait_for_packets(viewer)
        time.sleep(BETWEEN)
        stage.begin_account()
        counts, kills = viewer.take()["counts"], []
        for _ in range(limits.KILLS):
            pid = stage.sound_pid()
            if pid is None:
                break
            kills.append(time.monotonic())
            os.kill(pid, signal.SIGKILL)
            time.sleep(BETWEEN)
            counts += viewer.take()["counts"]
            stage.room.share.require_running()
            try:
                wait_until(lambda: stage.sound_pid() not in (None, pid), TIMEOUT, "a new capture of sound")
                stage.wait_for_packets(viewer, TIMEOUT)
            except Failure as failure:
                bench.say("%s" % failure)
                break
        busy = stage.busy()
        time.sleep(0.5)
        counts += viewer.take()["counts"]
    bench.keep(folder, "kill", {"kills": kills, "counts": counts})
    return dict(figures(kills, counts), busy=busy)


def figures(kills, counts):
    """Pure: when it was killed, and the page's counters over time, in; figures out."""
    if not kills or len(counts) < 2:
        raise Failure("there was no capture of sound to kill, or the page counted nothing")
    packets, end = pauses(counts, "packets"), counts[-1]["time"]
    back = []
    for kill in kills:
        # Packets that were on their way still come; then there is a pause.
        own = [(start, stop) for start, stop in packets
               if stop > kill and start < kill + (PAUSE if stop - start > USUAL else SOON)]
        if own:
            start, stop = max(own, key=lambda one: one[1] - one[0])
            if stop < end:
                back.append(1000 * (stop - kill))
    still = [stop - start for start, stop in pauses(counts, "decoded")
             if stop >= kills[0] and start <= kills[-1] + PAUSE]
    return {"kills": len(kills), "back": len(back), "back_p50_ms": share(back, 0.5),
            "back_most_ms": max(back, default=None), "pictures_pause_ms": 1000 * max(still), "series": back}


def pauses(counts, key):
    """Each time in which a counter stood still: from when it was first seen like that until it was seen to change."""
    found, value, since = [], counts[0][key], counts[0]["time"]
    for one in counts[1:]:
        if one[key] != value:
            found.append((since, one["time"]))
            value, since = one[key], one["time"]
    return found + [(since, counts[-1]["time"])]


def row(one):
    return ["%d" % one["back"]] + ["–" if one[key] is None else "%.0f" % one[key]
                                   for key in ("back_p50_ms", "back_most_ms")] + [
        "%.0f" % one["pictures_pause_ms"], "%.0f %%" % (100 * one["busy"])]


def checks(_, one):
    found = [at_least("kill, kills after which sound came back", one["back"], limits.KILLS, "times")]
    if one["back_most_ms"] is not None:
        found.append(at_most("kill, until sound is back", one["back_most_ms"], limits.BACK, "ms"))
    found.append(at_most("kill, longest pause of pictures", one["pictures_pause_ms"], limits.PICTURES_PAUSE, "ms"))
    return found
