"""The first ten seconds: what a first listener hears of a sound that plays already, second by second."""

import json
import os
import subprocess
import time

import numpy

from bench_kit.bench import REPOSITORY
from bench_kit.limits import at_most
from bench_kit.processes import Failure, Process, wait_until

from . import beeps, limits
from .pulse import LOUD, QUIET, RATE, Ear, Player
from .stage import Stage

TITLE = "The first ten seconds"
NOTE = (
    "Beeps over a quiet tone play already when the first listener comes, an aiortc client over WHEP, and no other client "
    "listens to the sink. Per beep: how long after the first sound it was; the offset, how much later than it was "
    "heard at the sink it is by its time stamp; how much later its first packet came; and by how many millionths the "
    "tone's pitch is off in the half second after it. Afterwards another client listens to the sink to tell when beeps "
    "are heard there. Errors: that is told up to 5 ms late, so the true offset may be 5 ms more; the pitch is known to "
    "20 ppm.")
COLUMNS = ["player's latency", "first sound after connecting ms", "s", "offset ms", "its packet ms", "pitch ppm"]
SECONDS, REST = 10.0, 6.0
#: ms that PulseAudio keeps ready: what a player of films asks for, and the default of simple players.
LATENCIES = {"50 ms": 50, "2 s": 2000}
#: Seconds: each beep is as far from the next one as no other, so that it is known which one it is.
PLACES, PERIOD = (0.0, 1.0, 2.1, 3.3), 4.0
BEEP, BEEP_SECONDS, LOUDNESS, HUM, HUM_LOUDNESS = 1000, 0.05, 0.5, 200, 0.05
#: The part of the tone whose pitch is measured, after a beep began.
PITCH_FROM, PITCH_TO = 0.12, 0.62
#: What is told of each beep.
ROW = ("second", "offset_ms", "packet_ms", "pitch_ppm")
CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "first_client.py")


skipped = beeps.skipped


def cases(_):
    return list(LATENCIES)


def pattern():
    """Pure: the samples of one period, which can be repeated without a seam."""
    times = numpy.arange(int(RATE * PERIOD)) / RATE
    samples = HUM_LOUDNESS * numpy.sin(2 * numpy.pi * HUM * times)
    for place in PLACES:
        since = times - place
        samples += LOUDNESS * numpy.sin(2 * numpy.pi * BEEP * since) * ((since >= 0) & (since < BEEP_SECONDS))
    return samples


def measure(bench, folder, case):
    heard = os.path.join(folder, "heard.pcm")
    with Stage(bench, folder) as stage:
        stage.add(Player(pattern(), LATENCIES[case], folder, stage.pulse.environment))
        time.sleep(REST)
        environment = {"PYTHONPATH": os.path.dirname(os.path.dirname(CLIENT)), "PYTHONDONTWRITEBYTECODE": "1"}
        client = Process("client", [
            os.path.join(REPOSITORY, beeps.ENVIRONMENT, "bin", "python"), "-B", CLIENT, stage.room.printed_link, heard,
            str(SECONDS)], os.path.join(folder, "client.log"), environment, stdout=subprocess.PIPE)
        stage.callback(client.stop)
        stage.begin_account()
        told, _ = client.child.communicate(timeout=90)
        busy = stage.busy()
        if client.child.returncode != 0:
            raise Failure("the client failed: %s" % client.last_words())
        ear = stage.add(Ear(folder, stage.pulse.environment))
        wait_until(lambda: len(ear.onsets) >= 8, 20, "eight beeps at the sink")
        stage.room.share.require_running()
        # The first ones come before the recording is at rest.
        source = [ear.heard(onset) for onset in ear.onsets[3:]]
    told = json.loads(told)
    samples = numpy.fromfile(heard, "<i2") / 32768
    bench.keep(folder, "first", dict(told, case=case, source=source))
    return dict(figures(told, samples, source), busy=busy)


def which(times):
    """Pure: which of the beeps each of these is, by the distance to the next one."""
    distances = [(second - first) % PERIOD for first, second in zip(PLACES, PLACES[1:] + (PERIOD,))]
    known = [int(numpy.argmin([abs(gap - one) for one in distances])) for gap in numpy.diff(times)]
    return known + [(known[-1] + 1) % len(PLACES)]


def figures(told, samples, source):
    """Pure: what was heard in, figures out."""
    stamps, arrivals, counts = (numpy.array(column) for column in zip(*told["frames"]))
    moment, timestamp = told["reports"][0]
    since = (stamps - timestamp + 2**31) % 2**32 - 2**31
    starts = numpy.concatenate(([0], numpy.cumsum(counts)[:-1]))

    def at(place):
        """When a sample was heard at the sink by its time stamp, and when its packet came."""
        frame = int(numpy.searchsorted(starts, place, "right")) - 1
        return (moment + (since[frame] + place - starts[frame]) / RATE, arrivals[frame])

    loud = numpy.flatnonzero(numpy.abs(samples) >= LOUD)
    if loud.size < 2:
        raise Failure("no beep was heard")
    onsets = loud[numpy.concatenate(([True], numpy.diff(loud) > QUIET))]
    onsets = [place for place in onsets if place > QUIET]
    # When a period began at the sink.
    begin = source[0] - PLACES[which(source)[0]]
    begin += numpy.median([near(one - PLACES[beep] - begin) for one, beep in zip(source, which(source))])
    rows = []
    for place, beep in zip(onsets, which([at(place)[0] for place in onsets])):
        stamped, came = at(place)
        away = near(stamped - PLACES[beep] - begin)
        piece = samples[place + int(PITCH_FROM * RATE):place + int(PITCH_TO * RATE)]
        if len(piece) < int((PITCH_TO - PITCH_FROM) * RATE):
            continue
        rows.append([float(one) for one in (
            stamped - at(0)[0], 1000 * away, 1000 * (came - stamped + away), pitch(piece))])
    one = {"first_ms": float(1000 * (arrivals[0] - told["connected"])), "beeps": len(rows),
           "offset_most_ms": max(abs(row[1]) for row in rows), "pitch_most_ppm": max(abs(row[3]) for row in rows)}
    for number, row in enumerate(rows):
        one.update(zip(("%s_%d" % (name, number) for name in ROW), row))
    return one


def near(difference):
    """Pure: a difference of times that are known up to whole periods."""
    return (difference + PERIOD / 2) % PERIOD - PERIOD / 2


def pitch(samples):
    """Pure: by how many millionths the tone is higher than it should be."""
    times, hertz, slope = (numpy.arange(len(samples)) - len(samples) / 2) / RATE, float(HUM), None
    for _ in range(6):
        phase = 2 * numpy.pi * hertz * times
        columns = [numpy.cos(phase), numpy.sin(phase), numpy.ones_like(times)]
        if slope is not None:
            columns.append(times * (slope[1] * columns[0] - slope[0] * columns[1]))
        found = numpy.linalg.lstsq(numpy.stack(columns, axis=1), samples, rcond=None)[0]
        if slope is not None:
            hertz += found[3] / (2 * numpy.pi)
        slope = found[:2]
    return 1e6 * (hertz / HUM - 1)


def rows(case, one):
    for number in range(int(one["beeps"])):
        second, offset, came, ppm = (one["%s_%d" % (name, number)] for name in ROW)
        yield [case if number == 0 else "", "%.0f" % one["first_ms"] if number == 0 else "", "%.1f" % second,
               "%.1f" % offset, "%.0f" % came, "%.0f" % ppm]


def checks(case, one):
    # A sink without listeners mixes as far ahead as its player, and a new listener gets nothing of that.
    return [at_most("first, %s, first sound" % case, one["first_ms"], limits.FIRST + LATENCIES[case], "ms after connecting"),
            at_most("first, %s, offset in each second" % case, one["offset_most_ms"], limits.FIRST_OFFSET, "ms"),
            at_most("first, %s, pitch in each second" % case, one["pitch_most_ppm"], limits.FIRST_PITCH, "ppm")]
