"""In sync: a flash and a beep once a second, and when each is seen and heard in the page."""

import bisect
import json
import os
import statistics
import subprocess
import sys
import time

import numpy

from bench_kit.analysis import share
from bench_kit.bench import REPOSITORY
from bench_kit.limits import at_least, at_most
from bench_kit.processes import Failure, Process

from . import limits
from .stage import Stage

TITLE = "In sync"
NOTE = (
    "Once a second the screen flashes while a beep is heard on the sink. To the ear: from then until the page hears "
    "it. To the eye: from the painting of the flash until the page shows it. The offset is their difference, positive "
    "where sound is late. Errors: the painting is known to 1 ms. The page shows the flash when it hands it to the "
    "browser's compositor; a screen of 60 Hz shows it some 10 ms later, and sound is then less late by as much. The "
    "beep on the sink is told up to 5 ms late. In the page it is heard when WebRTC hands it out to be played, and as "
    "much later as the browser says that its output holds; a loudspeaker of its own kind adds to that. So the true "
    "offset may be 10 ms less, or 5 ms more. (With --tap worklet it is heard by an AudioWorklet, whose AudioContext "
    "adds buffers of 20 to 60 ms that the page's own player doesn't have.) In another way, the page's offset is the "
    "difference of the browser's estimatedPlayoutTimestamp of both, which has other errors.\n\n"
    "aiortc is a WHEP player of another make, and its figures are by the host's time stamps: that of the first bright "
    "picture and that of the beep's first sample, by the latest sender report of each stream. They say at which offset "
    "a player plays that keeps to the time stamps, and nothing about the buffers of any player. Opus' delay is "
    "accounted for: a packet has the time of the first sample that a decoder gives. To the ear and to the eye: how "
    "much later than at the source it was by its time stamp. Errors: the beep on the sink is told up to 5 ms late, so "
    "the true offset may be 5 ms more. If the wall clock is set between the starts of host and client, ear and eye "
    "move by as much, and the offset doesn't. In another way, aiortc's offset is by when the first packets of each "
    "came; a player evens that out.")
COLUMNS = ["case", "found", "offset p50 ms", "p5 to p95 ms", "size p95 ms", "drift ms", "to the ear p50 ms", "p95 ms",
           "to the eye p50 ms", "offset in another way p50 ms", "busy"]
#: Who listens (--listener), both at once.
PAGE, AIORTC = "page", "aiortc"
LISTENERS = (PAGE, AIORTC)
#: Tools/python makes it for the tests' clients; the list of its packages comes last.
ENVIRONMENT = os.path.join(".build", "python", "rtc")
CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "whep_client.py")
#: Seconds in which the browser's buffers come to rest before anything counts.
LEAD = 10.0
TAKE_EVERY = 5.0
#: A flash and its beep are this close; what is seen or heard later isn't theirs.
TOGETHER, LATEST = 0.4, 0.5
#: Time stamps may be this much earlier than what they are of.
EARLIEST = 0.1
#: The amplitude of the tone under the beeps (--hum).
HUM = 0.02


def cases(options):
    between = "tone between the beeps" if options.hum else "silence between the beeps"
    case = between + (", the sink's clock %+g ppm" % options.faster if options.faster else "")
    return [case] if _listeners(options) else []


def left_out(options):
    """Which listeners can't be had on this machine, and why."""
    if AIORTC in _wanted(options) and AIORTC not in _listeners(options):
        yield AIORTC, "%s is missing or not whole; Tools/python makes it" % ENVIRONMENT


def _wanted(options):
    return LISTENERS if options.listener == "both" else (options.listener,)


def _listeners(options):
    """Those that are wanted and can be had."""
    is_there = os.path.exists(os.path.join(REPOSITORY, ENVIRONMENT, "requirements.txt"))
    return [one for one in _wanted(options) if one != AIORTC or is_there]


def measure(bench, folder, _):
    options, viewer, client, latencies = bench.options, None, None, {}
    with Stage(bench, folder, has_speaker=options.faster != 0) as stage:
        source = _start(stage, "source", [
            sys.executable, "-m", "sound_bench.source", stage.room.display.name, *map(str, options.size),
            str(HUM if options.hum else 0), str(options.faster), folder])
        if PAGE in _listeners(options):
            viewer = stage.add_viewer()
            latencies = _begin(viewer, options.tap)
        if AIORTC in _listeners(options):
            # Isolated: the client's packages are not ours.
            client = _start(stage, AIORTC, [os.path.join(REPOSITORY, ENVIRONMENT, "bin", "python"), "-I", "-B", CLIENT,
                                            stage.room.printed_link])
        stage.begin_account()
        start = time.monotonic() + LEAD
        taken = {key: [] for key in ("flashes", "beeps", "clock", "counts")}
        while time.monotonic() < start + options.seconds:
            time.sleep(min(TAKE_EVERY, max(0.1, start + options.seconds - time.monotonic())))
            for one in (stage.room.share, source, client):
                if one:
                    one.require_running()
            _take(viewer, taken)
        end, busy = time.monotonic(), stage.busy()
        time.sleep(1)
        _take(viewer, taken)
        told, stamps = _end(source), _end(client) if client else None
    bench.keep(folder, "sync", {"source": told, "page": taken, "aiortc": stamps})
    found = {"busy": busy}
    for name, one in ((PAGE, viewer and dict(of_page(told, taken, start, end), **latencies)),
                      (AIORTC, stamps and of_stamps(told, stamps, start, end))):
        found.update({"%s_%s" % (name, key): value for key, value in (one or {}).items()})
    return found


def _start(stage, name, command):
    """A process that says when it is ready, and tells what it knows when its standard input ends."""
    process = Process(name, command, os.path.join(stage.folder, name + ".log"), stage.pulse.environment,
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stage.callback(process.stop)
    if process.child.stdout.readline() != b"ready\n":
        raise Failure("%s did not start: %s" % (name, process.last_words()))
    return process


def _end(process):
    process.child.stdin.close()
    process.child.stdin = None
    line = process.child.stdout.readline()
    if not line:
        raise Failure("%s ended by itself: %s" % (process.name, process.last_words()))
    return json.loads(line)


def _begin(viewer, tap):
    """Has the page look and listen; gives the latencies that the browser tells."""
    viewer.turn_on_sound()
    latencies = viewer.listen() if tap == "worklet" else viewer.evaluate("soundBench.hear()")
    viewer.evaluate("soundBench.watchFlashes()")
    viewer.evaluate("soundBench.countEvery(1000)")
    return latencies or {}


def _take(viewer, taken):
    if not viewer:
        return
    for key, values in viewer.take().items():
        taken[key] += values


def of_page(source, page, start, end):
    """Pure: what was recorded in, figures out."""
    said = [one["lag"] for one in page["counts"] if one["lag"] is not None and start <= one["time"] < end]
    return dict(figures(source, [one[0] for one in page["flashes"]], heard_at(page), start, end),
                other_offset_ms=share(said, 0.5))


def of_stamps(source, stamps, start, end):
    """The same of what a client found by time stamps, and by when packets came."""
    by_stamp, by_arrival = (
        figures(source, *([times[place] for times in stamps[key]] for key in ("flashes", "beeps")), start, end)
        for place in (0, 1))
    return dict(by_stamp, other_offset_ms=by_arrival["offset_p50_ms"])


def figures(source, shown, heard, start, end):
    """Those of flashes and beeps that were shown and heard at these times."""
    rows, wanted = [], 0
    for drawn, _ in source["flashes"]:
        if not start <= drawn < end:
            continue
        wanted += 1
        beep = _first(source["beeps"], drawn - TOGETHER, drawn + TOGETHER)
        if beep is None:
            continue
        eye, ear = (_first(times, time - EARLIEST, time + LATEST) for times, time in ((shown, drawn), (heard, beep)))
        if eye is not None and ear is not None:
            rows.append((drawn, beep - drawn, 1000 * (eye - drawn), 1000 * (ear - beep)))
    if len(rows) < 3:
        raise Failure("%d of %d flashes and their beeps were found; %d flashes were seen and %d beeps heard" % (
            len(rows), wanted, len(shown), len(heard)))
    offsets = [ear - eye for _, _, eye, ear in rows]
    slope, error = line([drawn for drawn, *_ in rows], offsets)
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


def _of_each(one):
    """Each listener that there was, and its own figures."""
    for name in LISTENERS:
        if name + "_found" in one:
            yield name, {key[len(name) + 1:]: value for key, value in one.items() if key.startswith(name + "_")}


def rows(case, one):
    for name, own in _of_each(one):
        other = own["other_offset_ms"]
        yield ["%s, %s" % (case, name), "%.1f %%" % (100 * own["found"]), "%.1f" % own["offset_p50_ms"],
               "%.1f to %.1f" % (own["offset_p5_ms"], own["offset_p95_ms"]), "%.1f" % own["offset_size_p95_ms"],
               "%.1f ± %.1f" % (own["drift_ms"], own["drift_error_ms"]), "%.1f" % own["ear_p50_ms"],
               "%.1f" % own["ear_p95_ms"], "%.1f" % own["eye_p50_ms"], "–" if other is None else "%.1f" % other,
               "%.0f %%" % (100 * one["busy"])]


def checks(case, one):
    found = []
    for name, own in _of_each(one):
        what = "sync, %s, %s, " % (case, name)
        found += [at_least(what + "flashes and beeps found", own["found"], limits.FOUND, "of all"),
                  at_most(what + "offset of sound to picture, p95", own["offset_size_p95_ms"], limits.OFFSET, "ms"),
                  at_most(what + "drift over the run", abs(own["drift_ms"]), limits.DRIFT, "ms")]
        if name == PAGE:
            # Time stamps take no time to the ear.
            found.append(at_most(what + "capture to ear, p95", own["ear_p95_ms"], limits.TO_EAR, "ms"))
    return found
