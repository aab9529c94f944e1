"""Where to point, and what was measured of it. Pure: records in, figures out."""

import colorsys
import math
import random

from bench_kit.analysis import share

#: The minimum size of a place's cell, in pixels, and the length of a line in it: neither the dot nor its name reaches
#: the middle of another cell.
CELL, STROKE = (56, 48), 40
#: Seconds in which the moving pointer goes from side to side and back, and from top to bottom and back.
ACROSS, DOWN = 5.0, 3.3


def dot_color(name):
    """The colour (red, green, blue) that the overlay gives this viewer's dots and lines: a hue by FNV-1a."""
    number = 0x811C9DC5
    for letter in name:
        number = ((number ^ ord(letter)) * 0x01000193) & 0xFFFFFFFF
    return tuple(round(part * 255) for part in colorsys.hls_to_rgb(number % 360 / 360, 0.5, 0.95))


def places(size, count, seed):
    """So many places of a picture of this size, in an order of chance: the middles of a grid's cells. None if these
    were too small."""
    width, height = size
    columns = math.ceil(math.sqrt(count * width / height))
    rows = math.ceil(count / columns)
    if width < columns * CELL[0] or height < rows * CELL[1]:
        return None
    found = [((2 * column + 1) * width // (2 * columns), (2 * row + 1) * height // (2 * rows))
             for row in range(rows) for column in range(columns)]
    random.Random(seed).shuffle(found)
    return found[:count]


def stroke(place):
    """The two ends of a line whose middle is this place."""
    x, y = place
    return (x - STROKE // 2, y), (x + STROKE // 2, y)


def aimed(place, box):
    """The whole CSS pixel of the window that is nearest to a place of the picture, and which place of the picture that
    is. `box` is the picture's x, y and scale in the window."""
    left, top, scale = box
    window = [round(start + (pixel + 0.5) * scale) for start, pixel in zip((left, top), place)]
    return tuple(window), tuple(int((pixel - start) / scale) for start, pixel in zip((left, top), window))


def on_path(size, seconds):
    """Where the moving pointer is: it reaches most parts of the picture."""
    return tuple(side * (0.5 + 0.4 * math.sin(2 * math.pi * seconds / period))
                 for side, period in zip(size, (ACROSS, DOWN)))


def matched(sent, shown):
    """When each dot was seen, or None if it wasn't before the next one was sent. `sent` has seconds, in order, and
    `shown` [index, seconds] of each time at which a place took the colour."""
    ends = [*sent[1:], math.inf]
    return [min((when for place, when in shown if place == index and start <= when < end), default=None)
            for index, (start, end) in enumerate(zip(sent, ends))]


def events_of(windows, sent, events):
    """For each dot, (seconds of the event, seconds of its handling) of the page's first event at its place of the
    window since it was sent; None if there is none. `events` are [x, y, event's seconds, handling's seconds]."""
    found = []
    for window, start in zip(windows, sent):
        there = [(created, handled) for x, y, created, handled in events
                 if (round(x), round(y)) == tuple(window) and handled >= start]
        found.append(min(there, key=lambda one: one[1], default=None))
    return found


def of_delays(sent, events, seen):
    """All figures of one kind of dots; None if none was seen whose event is known. The lists belong together."""
    all_delays = [(shown - start) * 1000 for start, shown in zip(sent, seen) if shown is not None]
    known = [(start, event, shown) for start, event, shown in zip(sent, events, seen)
             if event is not None and shown is not None]
    if not known:
        return None
    from_event = [(shown - created) * 1000 for _, (created, _), shown in known]
    to_page = [(handled - start) * 1000 for start, (_, handled), _ in known]
    from_page = [(shown - handled) * 1000 for _, (_, handled), shown in known]
    return {"dots": len(sent), "unseen": len(sent) - len(all_delays),
            "p50_ms": share(all_delays, 0.5), "p95_ms": share(all_delays, 0.95), "max_ms": max(all_delays),
            "event_p50_ms": share(from_event, 0.5), "event_p95_ms": share(from_event, 0.95),
            "to_page_p50_ms": share(to_page, 0.5), "from_page_p50_ms": share(from_page, 0.5),
            "from_page_p95_ms": share(from_page, 0.95)}


def of_cost(before, after, moves):
    """Figures per second between two looks. `moves` are the pointer's events that the page handled meanwhile."""
    seconds = (after["time"] - before["time"]) / 1e9

    def grown(key):
        return (after[key] - before[key]) / seconds

    return {"seconds": seconds, **{key + "_cpu": grown(key) / 1e6 for key in ("capture", "host", "server")},
            "pictures_per_second": grown("pictures"), "bytes_per_second": grown("bytes"),
            "moves_per_second": moves / seconds}


def increase(resting, pointing):
    """What pointing adds to each figure, in one run."""
    return {key: pointing[key] - resting[key] for key in resting if key != "seconds"}
