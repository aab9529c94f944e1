"""OBS as a publisher: what viewers see and hear, the delay, an OBS that is killed, and a wrong stream key."""

import subprocess
import time

import numpy

from bench_kit.analysis import share
from bench_kit.counts import first_times
from bench_kit.devtools import chromium
from bench_kit.limits import Check, at_least, at_most
from bench_kit.processes import Failure, require_programs, sleep_until, wait_until
from bench_kit.room import busy_time
from sound_bench.tone import TONE

from . import heard
from .host import ROOMS
from .obs_stage import START, WAYS, Stage, Way, join, publish
from .page import Page
from .studio import SOUND_RATE
from .trust import certificate, obstacle, trusting

#: Seconds: until the scene's counts count, after the last of them, of what is heard, until a wrong key is refused, and
#: how long OBS might try again.
LEAD, TAIL, HEARD, REFUSED, AGAIN = 5.0, 2.5, 3, 30, 10.0
#: The part of a run with a browser, and the one with a wrong key.
PAGE, REFUSAL = "page", "wrong key"
#: Pictures per second that have to arrive, of 30: software that draws instead of a GPU may leave some out.
PICTURES = 15
#: Hz by which the tone may be off, and its least share of the sound's power.
PITCH, PURE = 2, 0.9
#: ms that the host may add at p95 to OBS's pictures without B-frames above those of FFmpeg; and that OBS's pictures may
#: come later than FFmpeg's at p95. OBS draws a picture in one period of 33 ms, reads it back in the next, and encodes
#: it in a third; 50 ms are for drawing without a GPU.
ADDED, LATER = 20, 150
#: Seconds from connecting until the viewer's picture moves again.
BACK = 5


def require():
    """A Missing where a program is missing."""
    require_programs({"obs": "obs-studio", "Xvfb": "xvfb"})
    chromium()


def measure(bench, _):
    """One run: figures by way, of the page, and of the wrong key; None for one that failed twice."""
    figures = {}
    for way in WAYS:
        figures[way.title] = _once(bench, way.title, lambda bench, folder: _deliver(bench, way, folder))
    figures[PAGE] = _once(bench, PAGE, _watch_and_kill)
    figures[REFUSAL] = _once(bench, REFUSAL, _refuse)
    return figures


def _once(bench, title, course):
    bench.say("obs: " + title)
    return bench.run_twice(title, lambda folder: course(bench, folder))


def _deliver(bench, way, folder):
    """The delay of a way, from the painting of a count on the screen to the last byte at a player."""
    more, prefix = (), ()
    if way.protocol == "rtmps":
        if reason := obstacle():
            return {"skipped": reason}
        more, prefix = certificate(folder), trusting(folder)
    seconds = LEAD + bench.options.seconds + TAIL
    with Stage(bench, folder, seconds + 1, more) as stage:
        publisher = publish(stage, way, folder, prefix)
        player = stage.add(join(stage.host, publisher))
        watcher = stage.watcher(folder)
        begin = stage.shown.start() / 1e9 + LEAD
        sleep_until(begin)
        worked = busy_time()
        end = begin + bench.options.seconds
        sleep_until(end)
        worked = [now - then for now, then in zip(busy_time(), worked)]
        sleep_until(end + TAIL)
        player.require_playing()
        publisher.require_running()
        painted = first_times(watcher.finish()["drawn"])
        sound = _hear(stage.host) if way.program == "OBS" else {}
    counted = {count: when for count, when in painted.items() if begin <= when < end}
    sent, has_b_frames = stage.tap.connections[0].sent(folder) if stage.tap.connections else ([], None)
    sent, arrived = _first(sent), _first(zip(player.numbers(folder), (one.arrived for one in player.pictures)))
    if has_b_frames is not None and has_b_frames != way.has_b_frames:
        raise Failure("%s sends %s" % (way.program, "B-frames" if has_b_frames else "no B-frames"))
    return {"per_second": sum(1 for count in counted if count in arrived) / bench.options.seconds,
            "busy": worked[0] / worked[1], **sound, **_delays("total", counted, arrived),
            **(_on_the_way(counted, sent, arrived, bench.options.seconds) if sent else {})}


def _first(pictures):
    """When each number came first."""
    times = {}
    for number, when in pictures:
        times.setdefault(number, when)
    return times


def _delays(name, begun, ended):
    delays = [(ended[number] - when) * 1000 for number, when in begun.items() if number in ended]
    if not delays:
        raise Failure("no picture that counts has arrived")
    return {name + "_p50": share(delays, 0.5), name + "_p95": share(delays, 0.95)}


def _on_the_way(counted, sent, arrived, seconds):
    """What the publisher itself takes, and what the host adds, of the pictures that the publisher sent."""
    there = {number: sent[number] for number in counted if number in sent}
    return {"sent_per_second": len(there) / seconds, "missing": sum(1 for number in there if number not in arrived),
            **_delays("own", counted, sent), **_delays("added", there, arrived)}


def _hear(host):
    """The tone in what an RTSP player hears."""
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-rtsp_transport", "tcp", "-allowed_media_types", "audio",
               "-i", host.place(ROOMS[0])[1], "-t", str(HEARD), "-ac", "1", "-ar", str(SOUND_RATE), "-f", "f32le",
               "pipe:1"]
    found = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30).stdout
    return heard.figures(numpy.frombuffer(found[:len(found) // 4 * 4], numpy.float32), SOUND_RATE)


def _watch_and_kill(bench, folder):
    """What Chromium shows and plays of OBS as it comes, and how it goes on after OBS was killed and started again."""
    # The scene must still move when OBS is back.
    with Stage(bench, folder, LEAD + bench.options.seconds + HEARD + 3 * START) as stage:
        studio = stage.studio(folder, stage.tapped(), stage.host.key(ROOMS[0]))
        join(stage.host, studio).close()
        watcher = stage.watcher(folder)
        start = stage.shown.start() / 1e9
        page = stage.add(Page(folder, stage.host.link))
        sound = heard.figures(*page.hear(HEARD))
        begin = max(start, time.monotonic()) + LEAD
        end = begin + bench.options.seconds
        sleep_until(end + TAIL)
        shown, before, killed = _first(page.shown()), page.identity(), time.monotonic()
        studio.kill()
        studio.start()
        wait_until(lambda: len(stage.tap.connections) > 1, START, "OBS's connection after it was killed")
        connected = stage.tap.connections[1].began
        back, after = _moved(studio, page, connected), page.identity()
        painted = first_times(watcher.finish()["drawn"])
    counted = {count: when for count, when in painted.items() if begin <= when < end}
    return {"per_second": sum(1 for count in counted if count in shown) / bench.options.seconds, **sound,
            **_delays("total", counted, shown), "restart": connected - killed, "back": back - connected,
            "is_same": float(before == after)}


def _moved(studio, page, connected):
    """When the page showed a picture that is newer than all from before OBS connected again."""
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        studio.require_running()
        shown = page.shown()
        highest = max((count for count, when in shown if when <= connected), default=-1)
        if times := [when for count, when in shown if when > connected and count > highest]:
            return min(times)
        # Asking more often would take the page's time.
        time.sleep(0.2)
    raise Failure("no new picture came within %d s after OBS was killed" % START)


def _refuse(bench, folder):
    """What OBS does with a wrong stream key."""
    with Stage(bench, folder, 1) as stage:
        studio = stage.studio(folder, stage.tapped(), ROOMS[0] + ",wrong")

        def refusal():
            return [line for line in studio.log() if "Connection to" in line and "failed" in line]

        wait_until(refusal, REFUSED, "OBS's line about a wrong stream key")
        # The length of the time in which it might try again.
        time.sleep(AGAIN)
        said = [line.strip() for line in studio.log() if "NetStream." in line] + refusal()
        publishers = sum(value for name, value in stage.host.metrics().items() if name.startswith("publishers{"))
        return {"runs": float(studio.process.is_running()), "tries": len(stage.tap.connections),
                "publishers": publishers, "said": " / ".join(said)}


def checks(figures):
    found, plain = [], {program: figures.get(Way(program, "rtmp", False).title) for program in ("OBS", "FFmpeg")}
    for title, one in figures.items():
        if "per_second" in one:
            found.append(at_least(title + ", new pictures", one["per_second"], PICTURES, "per second"))
        if "hertz" in one:
            is_there = abs(one["hertz"] - TONE) <= PITCH and one["tone_share"] >= PURE
            found.append(Check(title + ", tone", "%.1f Hz, %.0f %% of the sound" % (
                one["hertz"], 100 * one["tone_share"]), "%d Hz, %d %%" % (TONE, 100 * PURE), is_there))
        if "missing" in one:
            found.append(at_most(title + ", missing", one["missing"], 0, "pictures"))
    if all(plain.values()):
        for part, limit, what in (("added_p95", ADDED, "what the host adds at p95"), ("total_p95", LATER, "p95")):
            found.append(at_most("OBS without B-frames, %s, above FFmpeg's" % what,
                                 plain["OBS"][part] - plain["FFmpeg"][part], limit, "ms"))
    if one := figures.get(PAGE):
        found += [at_most("a picture after OBS was killed and streams again", one["back"], BACK, "s"),
                  Check("the track after OBS was killed", "same" if one["is_same"] else "another", "same",
                        bool(one["is_same"]))]
    if one := figures.get(REFUSAL):
        found.append(at_most("publishers with a wrong key", one["publishers"], 0, "publishers"))
    return found
