"""What a viewer showed in a phase, and what that took. Pure: records in, figures out."""

import statistics

from bench_kit.analysis import SETTLE, of_pictures, share

#: As the page's line does, a viewer's own figure is the median over so many seconds.
DELAY_WINDOW = 3


class Painted:
    """When each count of the scene was painted, as it was seen in the framebuffer; `step` is the time between two."""

    def __init__(self, times, step):
        self.times, self.step = times, step

    def painted(self, count):
        return self.times[count]


def smoothed(values):
    """Of [seconds, value], the medians over the last DELAY_WINDOW; what wasn't measured (None) doesn't count."""
    found = []
    for place, (when, _) in enumerate(values):
        known = [value for _, value in values[max(0, place + 1 - DELAY_WINDOW):place + 1] if value is not None]
        found.append((when, statistics.median(known) if known else None))
    return found


def of_own(said, start, end):
    """What the viewer itself says of the delay, in ms: `said` has [seconds, ms or None] once per second."""
    known = [value for when, value in said if start + SETTLE <= when < end and value is not None]
    return {"own_p50_ms": share(known, 0.5), "own_p95_ms": share(known, 0.95)}


def of_usage(before, after):
    """CPU time in ms per second between two looks, of the viewer and of its X server, and the memory at the end."""
    seconds = after["time"] - before["time"]
    return {**{key: (after[key] - before[key]) * 1000 / seconds for key in ("cpu", "server_cpu")},
            "memory_mb": after["memory"] * 1024 / 1e6}


def of_phase(shown, painted, said, looks, start, end):
    """All figures of a viewer in a phase. `shown` has (seconds, count), `looks` the usage before and after."""
    return {**of_pictures(shown, painted, start, end), **of_own(said, start, end), **of_usage(*looks)}
