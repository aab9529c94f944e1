"""From the pointer's event in the viewer's page to the overlay's pixels on the sharer's screen."""

import random
import time

from bench_kit.processes import Failure
from bench_kit.watching import WatcherProcess

from .figures import aimed, dot_color, events_of, matched, of_delays, places, stroke
from .stage import NAME, Stage

#: Seconds from an event to the next one, at least; chance adds up to one frame, so that they fall anywhere in frames.
#: A dot that comes later isn't seen.
EVERY, FRAME = 0.25, 1 / 60
#: Seconds from a press to the event that draws: longer than the page waits from one message to the next (34 ms).
PRESSED = 0.1
#: Seconds of the scene's motion before the first dot.
LEAD = 2.0


def measure(bench, scene, folder, seed):
    """One run: the figures of the laser and of the pen."""
    options, chance = bench.options, random.Random(seed)
    wanted = places(scene.size, options.dots, seed)
    courses = {"laser": _points(wanted), "pen": _lines(wanted)}
    with Stage(bench, folder) as stage:
        stage.open(scene, LEAD + options.dots * (2 * (EVERY + FRAME) + 2 * PRESSED))
        stage.turn_laser(True)
        time.sleep(LEAD)
        found = {name: _course(stage, name, make, chance) for name, make in courses.items()}
        found["busy"] = {"share": stage.busy()}
    return found


def _points(wanted):
    """For each place: where it is looked for, and the mouse's events, of which the last one counts."""
    def make(box):
        aims = [aimed(place, box) for place in wanted]
        return [(seen, [("mouseMoved", window, {})]) for window, seen in aims]
    return make


def _lines(wanted):
    def make(box):
        found = []
        for place in wanted:
            (first, start), (second, end) = (aimed(one, box) for one in stroke(place))
            found.append((((start[0] + end[0]) // 2, start[1]), [
                ("mousePressed", first, {"button": "left", "buttons": 1, "clickCount": 1}),
                ("mouseMoved", second, {"button": "left", "buttons": 1})]))
        return found
    return make


def _course(stage, name, make, chance):
    course = make(stage.box)
    windows = [events[-1][1] for _, events in course]
    # The page shows its bar only while the mouse moves. Of all dots, this one is due again last.
    stage.mouse("mouseMoved", windows[-1])
    time.sleep(EVERY)
    stage.require_free([window for _, events in course for _, window, _ in events])
    stage.take_events()
    words = [stage.folder, "%d,%d,%d" % dot_color(NAME), *("%d,%d" % seen for seen, _ in course)]
    watcher = WatcherProcess("latency_bench.pointing.watcher", words, stage.folder)
    try:
        sent = [_dispatch(stage, events, chance) for _, events in course]
        seen = watcher.finish()
    finally:
        watcher.close()
    found = of_delays(sent, events_of(windows, sent, stage.take_events()), matched(sent, seen["shown"]))
    stage.room.share.require_running()
    if found is None:
        raise Failure("nothing of the %s was seen on the sharer's screen" % name)
    return {**found, "look_p99_ms": seen["gap_p99_ms"], "look_max_ms": seen["gap_max_ms"]}


def _dispatch(stage, events, chance):
    """Gives the time of the last of these events."""
    for kind, window, more in events[:-1]:
        stage.mouse(kind, window, **more)
        time.sleep(PRESSED)
    kind, window, more = events[-1]
    sent = stage.mouse(kind, window, **more)
    time.sleep(EVERY + chance.uniform(0, FRAME))
    if more:
        stage.mouse("mouseReleased", window, button="left", buttons=0, clickCount=1)
        time.sleep(PRESSED)
    return sent
