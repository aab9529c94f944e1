"""What viewers see, from the pictures on the link and from what was painted.

The link is thought of as one that carries the bit rate and no more: a picture is seen once all its bytes have passed.
"""

import statistics

import numpy

from capture_bench import pictures

PERIOD = 1 / 30
#: What a picture may show of a snapshot: it was taken a little before, or later, because it had to wait.
EARLIEST, LATEST = -60_000_000, 400_000_000
#: Rows of a picture that are compared: every fourth, and one more each time, so that lines of text don't hide.
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
    bytes_sent = sum(one.end - one.offset for one in received if begin <= one.pts < end)
    return {
        "painted": len(slots) / seconds, "fps": len(shown) / seconds,
        "qp": statistics.mean(one.quantizer for one in shown) if shown else 0.0,
        "mbit": bytes_sent * 8 / 1e6 / seconds,
        "freezes": freezes([time for one, time in zip(received, times) if begin <= one.pts < end and one.damage[2]],
                           painted),
        "age_p95": age(received, times, painted, window)}


def freezes(times, painted):
    """Gaps that Chromium counts as freezes: longer than three times the average of the last 30 and than 150 ms more than
    it (W3C webrtc-stats, freezeCount). A gap in which the program painted in fewer than three periods is a pause."""
    count, last = 0, []
    for before, after in zip(times, times[1:]):
        gap = (after - before) / 1e9
        mean = statistics.mean(last) if last else gap
        if gap > max(3 * mean, mean + 0.15):
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


def qualities(path, size, received, snapshots):
    """The PSNR of each snapshot `(time, pixels)` in the picture that shows it best; None where there is none."""
    best = [None] * len(snapshots)
    exact = [pictures.luma_of(pixels[::ROW_STEP, :, 2::-1], "601") for _, pixels in snapshots]
    last = {}
    for index, luma in enumerate(pictures.decode(path, size)):
        if index >= len(received):
            break
        for number, (time, _) in enumerate(snapshots):
            if received[index].pts <= time:
                # What stood still since then is shown by the last picture before.
                last[number] = (received[index].pts, luma[::ROW_STEP].copy())
            if EARLIEST <= received[index].pts - time <= LATEST:
                value = pictures.psnr(luma[::ROW_STEP], exact[number])
                best[number] = value if best[number] is None else max(best[number], value)
    for number, (_, luma) in last.items():
        value = pictures.psnr(luma, exact[number])
        best[number] = value if best[number] is None else max(best[number], value)
    return best
