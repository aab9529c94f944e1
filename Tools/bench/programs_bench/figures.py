"""What viewers see, from the pictures on the link and from what was painted.

The link is thought of as one that carries the bit rate and no more: a picture is seen once all its bytes have passed.
"""

import statistics

import numpy

from bench_kit import pictures
from bench_kit.processes import Failure

PERIOD = 1 / 30
#: What a picture may show of a snapshot: it was taken a little before, or later, because it had to wait.
EARLIEST, LATEST = -60_000_000, 400_000_000
#: Rows of a picture that are compared: every third, so that lines of text don't hide.
ROW_STEP = 3


def seen_times(received, bit_rate):
    """When each picture has passed the link, in ns."""
    free, times = 0, []
    for one in received:
        free = max(free, one.arrival) + (one.end - one.offset) * 8 * 1_000_000_000 // bit_rate
        times.append(free)
    return times


def of_motion(received, painted, window, bit_rate):
    """Frames, QP, bit rate, freezes and age of the pictures in a window; times in ns."""
    begin, end = window
    seconds = (end - begin) / 1e9
    shown = [one for one in received if begin <= one.pts < end and (one.damage[2] or one.is_idr)]
    slots = {int((time - begin) / 1e9 / PERIOD) for time in painted if begin <= time < end}
    times = seen_times(received, bit_rate)
    changes = [time for one, time in zip(received, times) if one.damage[2]]
    return {
        "painted": len(slots) / seconds, "fps": len(shown) / seconds,
        "qp": statistics.mean(one.quantizer for one in shown) if shown else 0.0,
        "mbit": bytes_of(received, window) * 8 / 1e6 / seconds,
        "freezes": freezes(changes, painted, window),
        "age_p95": age(received, times, painted, window)}


def bytes_of(received, window):
    return sum(one.end - one.offset for one in received if window[0] <= one.pts < window[1])


def freezes(times, painted, window):
    """Gaps that Chromium counts as freezes: longer than three times the average of the last 30, and by 150 ms or more
    longer than it (W3C webrtc-stats, freezeCount). A gap in which the program painted in fewer than three periods is a
    pause. A gap that lasts until the window's end counts too."""
    begin, end = window
    times = [time for time in times if time < end] + [end]
    count, last = 0, []
    for before, after in zip(times, times[1:]):
        gap = (after - before) / 1e9
        mean = statistics.mean(last) if last else gap
        if after >= begin and gap > max(3 * mean, mean + 0.15):
            slots = {int((time - before) / 1e9 / PERIOD) for time in painted if before < time < after}
            count += len(slots) >= 3
        last = (last + [gap])[-30:]
    return count


def age(received, times, painted, window):
    """The 95th percentile of how long viewers have not seen something that was painted, in ms."""
    painted = numpy.array(painted)
    ages, index, shown = [], 0, 0
    for time in range(window[0], window[1], 5_000_000):
        while index < len(times) and times[index] <= time:
            shown = received[index].pts
            index += 1
        first = numpy.searchsorted(painted, shown, "right")
        unseen = first < len(painted) and painted[first] <= time
        ages.append((time - int(painted[first])) / 1e6 if unseen else 0.0)
    return float(numpy.percentile(ages, 95)) if ages else 0.0


class Moment:
    """What the screen showed at a moment: snapshots `(time, rows of blue, green and red)` that follow one another
    closely, because nobody knows which of them a picture was grabbed with."""

    def __init__(self, snapshots, is_rest=False):
        self.snapshots, self.is_rest, self.best = snapshots, is_rest, None

    def choose(self, received, times):
        """Which pictures may show it: their places in the stream. At rest it is the last one that viewers have."""
        begin = self.snapshots[0][0]
        last = [index for index, time in enumerate(times) if time <= begin][-1:]
        if self.is_rest:
            return set(last)
        return set(last) | {index for index, one in enumerate(received)
                            if any(EARLIEST <= one.pts - time <= LATEST for time, _ in self.snapshots)}


def rate_moments(path, size, received, bit_rate, moments, matrix):
    """Sets `best` of each moment: the PSNR in the picture that shows it best; None where there is none."""
    times = seen_times(received, bit_rate)
    chosen = [moment.choose(received, times) for moment in moments]
    exact = [[pictures.luma_of(rows[:, :, ::-1], matrix) for _, rows in moment.snapshots] for moment in moments]
    decoded = 0
    for index, luma in enumerate(pictures.decode(path, size)):
        decoded = index + 1
        for moment, places, snapshots in zip(moments, chosen, exact):
            if index in places:
                value = max(pictures.psnr(luma[::ROW_STEP], one) for one in snapshots)
                moment.best = max(value, moment.best or 0.0)
    # Pictures are told apart by their place in the stream: one that is missing would shift all others.
    if decoded < len(received):
        raise Failure("%d of %d frames were decoded" % (decoded, len(received)))


def mean_psnr(moments):
    """The mean over moments, in dB."""
    known = [moment.best for moment in moments if moment.best is not None]
    if not known:
        raise Failure("no frame could be compared")
    return statistics.mean(known)
