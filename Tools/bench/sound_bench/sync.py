"""In sync: a flash and a beep once a second, and when each is seen and heard in the page."""

import bisect
import json
import os
import statistics
import subprocess
import sys
import time

import numpy

from capture_bench.limits import at_least, at_most
from capture_bench.processes import Failure, Process
from network_bench.analysis import share

from . import limits
from .stage import Stage

TITLE = "In sync"
NOTE = (
    "Once a second the screen flashes while a beep is heard on the sink. To the ear: from then until the page hears "
    "it. To the eye: from the painting of the flash until the page shows it. The offset is their difference, positive "
    "where sound is late. Errors: the painting is known to 1 ms. The page shows the flash when it hands it to the "
    "browser's compositor; a screen of 60 Hz shows it some 10 ms later, and sound is then less late by as much. The "
    "beep on the sink is told up to 5 ms late. In the page it is heard when WebRTC hands it out to be played, and as much "
    "later as the browser says that its output holds; a loudspeaker of its own kind adds to that. So the true offset may "
    "be 10 ms less, or 5 ms more. (With --tap worklet it is heard by an AudioWorklet, whose AudioContext adds buffers "
    "of 20 to 60 ms that the page's own player doesn't have.) The page's own figure has other errors: it is the difference of "
    "the browser's estimatedPlayoutTimestamp of both.")
COLUMNS = ["case", "found", "offset p50 ms", "p5 to p95 ms", "size p95 ms", "drift ms", "to the ear p50 ms", "p95 ms",
           "to the eye p50 ms", "the page says ms", "busy"]
#: Seconds in which the browser's buffers come to rest before anything counts.
LEAD = 10.0
TAKE_EVERY = 5.0
#: A flash and its beep are this close; what is seen or heard later isn't theirs.
TOGETHER, LATEST = 0.4, 0.5
#: The amplitude of the tone under the beeps (--hum).
HUM = 0.02


def cases(options):
    between = "tone between the beeps" if options.hum else "silence between the beeps"
    return [between + (", the sink's clock %+g ppm" % options.faster if options.faster else "")]


def measure(bench, folder, _):
    with Stage(bench, folder, has_speaker=bench.options.faster != 0) as stage:
        width, height = bench.options.size
        source = Process(
            "the source of flashes and beeps",
            [sys.executable, "-m", "sound_bench.source", stage.room.display.name, str(width), str(height),
             str(HUM if bench.options.hum else 0), str(bench.options.faster), folder],
            os.path.join(folder, "source.log"), stage.pulse.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stage.callback(source.stop)
        if source.child.stdout.readline() != b"ready\n":
            raise Failure("flashes and beeps did not start: " + source.last_words())
        viewer = stage.add_viewer()
        viewer.turn_on_sound()
        latencies = {}
        if bench.options.tap == "worklet":
            latencies = viewer.listen()
        else:
            viewer.evaluate("soundBench.hear()")
        viewer.evaluate("soundBench.watchFlashes()")
        viewer.evaluate("soundBench.countEvery(1000)")
        stage.begin_account()
        start = time.monotonic() + LEAD
        taken = {key: [] for key in ("flashes", "beeps", "clock", "counts")}
        while time.monotonic() < start + bench.options.seconds:
            time.sleep(min(TAKE_EVERY, max(0.1, start + bench.options.seconds - time.monotonic())))
            stage.room.share.require_running()
            source.require_running()
            _take(viewer, taken)
        end, busy = time.monotonic(), stage.busy()
        time.sleep(1)
        _take(viewer, taken)
        source.child.stdin.close()
        source.child.stdin = None
        line = source.child.stdout.readline()
        if not line:
            raise Failure("flashes and beeps ended by themselves: " + source.last_words())
        told = json.loads(line)
    bench.keep(folder, "sync", {"source": told, "page": taken})
    return dict(figures(told, taken, start, end), busy=busy, **latencies)


def _take(viewer, taken):
    for key, values in viewer.take().items():
        taken[key] += values


def figures(source, page, start, end):
    """Pure: what was recorded in, figures out."""
    shown, heard = [one[0] for one in page["flashes"]], heard_at(page)
    rows, wanted = [], 0
    for drawn, _ in source["flashes"]:
        if not start <= drawn < end:
            continue
        wanted += 1
        beep = _first(source["beeps"], drawn - TOGETHER, drawn + TOGETHER)
        if beep is None:
            continue
        eye, ear = _first(shown, drawn, drawn + LATEST), _first(heard, beep, beep + LATEST)
        if eye is not None and ear is not None:
            rows.append((drawn, beep - drawn, 1000 * (eye - drawn), 1000 * (ear - beep)))
    if len(rows) < 3:
        raise Failure("%d of %d flashes and their beeps were found; the page saw %d flashes and heard %d beeps" % (
            len(rows), wanted, len(shown), len(heard)))
    offsets = [ear - eye for _, _, eye, ear in rows]
    slope, error = line([drawn for drawn, *_ in rows], offsets)
    said = [one["lag"] for one in page["counts"] if one["lag"] is not None and start <= one["time"] < end]
    return {
        "found": len(rows) / wanted,
        "offset_p5_ms": share(offsets, 0.05), "offset_p50_ms": share(offsets, 0.5),
        "offset_p95_ms": share(offsets, 0.95), "offset_size_p95_ms": share([abs(one) for one in offsets], 0.95),
        "drift_ms": slope * (end - start), "drift_error_ms": error * (end - start),
        "ear_p50_ms": share([ear for *_, ear in rows], 0.5), "ear_p95_ms": share([ear for *_, ear in rows], 0.95),
        "eye_p50_ms": share([eye for *_, eye, _ in rows], 0.5),
        "eye_p95_ms": share([eye for *_, eye, _ in rows], 0.95),
        # How well flash and beep were together at their source; the offset is free of it.
        "source_offset_p50_ms": 1000 * share([apart for _, apart, _, _ in rows], 0.5),
        "page_says_ms": share(said, 0.5),
        "series": [[drawn - start, eye, ear] for drawn, _, eye, ear in rows]}


def heard_at(page):
    """When the speaker plays each beep: the AudioContext's clock beside ours, the median of two seconds around it."""
    contexts, result = [context for context, _ in page["clock"]], []
    for beep in page["beeps"]:
        near = page["clock"][bisect.bisect_left(contexts, beep - 1):bisect.bisect_right(contexts, beep + 1)]
        if near:
            result.append(beep + statistics.median(played - context for context, played in near))
    return result


def line(times, values):
    """The slope of the straight line that fits best, and its standard error."""
    times, values = numpy.array(times), numpy.array(values)
    away = times - times.mean()
    slope = (away * values).sum() / (away ** 2).sum()
    rest = values - values.mean() - slope * away
    return float(slope), float(((rest ** 2).sum() / (len(times) - 2) / (away ** 2).sum()) ** 0.5)


def _first(times, least, most):
    place = bisect.bisect_left(times, least)
    return times[place] if place < len(times) and times[place] <= most else None


def row(one):
    says = one["page_says_ms"]
    return ["%.1f %%" % (100 * one["found"]), "%.1f" % one["offset_p50_ms"],
            "%.1f to %.1f" % (one["offset_p5_ms"], one["offset_p95_ms"]), "%.1f" % one["offset_size_p95_ms"],
            "%.1f ± %.1f" % (one["drift_ms"], one["drift_error_ms"]), "%.1f" % one["ear_p50_ms"],
            "%.1f" % one["ear_p95_ms"], "%.1f" % one["eye_p50_ms"], "–" if says is None else "%.1f" % says,
            "%.0f %%" % (100 * one["busy"])]


def checks(case, one):
    return [at_least("sync, %s, flashes and beeps found" % case, one["found"], limits.FOUND, "of all"),
            at_most("sync, %s, offset of sound to picture, p95" % case, one["offset_size_p95_ms"], limits.OFFSET, "ms"),
            at_most("sync, %s, drift over the run" % case, abs(one["drift_ms"]), limits.DRIFT, "ms"),
            at_most("sync, %s, capture to ear, p95" % case, one["ear_p95_ms"], limits.TO_EAR, "ms")]
