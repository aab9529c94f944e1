"""How clean a recorded tone is. Pure: samples in, figures out."""

import numpy

TONE, LOUDNESS = 440, 0.5
#: A gap is where the loudness of so many seconds is this share of the tone's, or less.
GAP_STEP, GAP_SHARE = 0.005, 0.1
#: A click is where the second difference is so many times what the tone has by itself, and so many times its noise.
CLICK_TONE, CLICK_NOISE = 12, 10
#: Seconds in which several of them are one click.
CLICK_LENGTH = 0.005
#: How far the frequency is looked for at first, in Hz, and how often it is corrected.
STARTS, ROUNDS = (0.0, -0.4, 0.4), 6


def second(rate):
    """A second of the tone; it can be repeated without a seam."""
    return LOUDNESS * numpy.sin(2 * numpy.pi * TONE * numpy.arange(rate) / rate)


def figures(samples, rate):
    samples = samples.astype(numpy.float64)
    seconds, tenths = (snr(samples, rate, length) for length in (1.0, 0.1))
    silent, clicked = gaps(samples, rate), clicks(samples, rate)
    return {"seconds": len(samples) / rate, "snr_median_db": float(numpy.median(seconds)),
            "snr_worst_db": min(seconds), "snr_tenths_median_db": float(numpy.median(tenths)),
            "gaps": len(silent), "longest_gap_ms": max(silent, default=0.0), "clicks": clicked}


def snr(samples, rate, length):
    """The ratio of tone to everything else in each piece of so many seconds, in dB."""
    size = int(rate * length)
    return [_ratio(samples[place:place + size], rate) for place in range(0, len(samples) - size + 1, size)]


def _ratio(piece, rate):
    """By the sine that fits best, whatever its frequency near the tone's (IEEE 1057, four parameters)."""
    times = (numpy.arange(len(piece)) - len(piece) / 2) / rate
    return max(_ratio_from(piece, times, TONE + start) for start in STARTS)


def _ratio_from(piece, times, hertz):
    slope = None
    for _ in range(ROUNDS):
        phase = 2 * numpy.pi * hertz * times
        columns = [numpy.cos(phase), numpy.sin(phase), numpy.ones_like(times)]
        if slope is not None:
            columns.append(times * (slope[1] * columns[0] - slope[0] * columns[1]))
        matrix = numpy.stack(columns, axis=1)
        # Normal equations: the columns are nearly orthogonal, and these are much smaller.
        found = numpy.linalg.lstsq(matrix.T @ matrix, matrix.T @ piece, rcond=None)[0]
        if slope is not None:
            hertz += min(1.0, max(-1.0, found[3] / (2 * numpy.pi)))
        slope = found[:2]
    rest = piece - matrix @ found
    tone, noise = (slope ** 2).sum() / 2, (rest ** 2).mean()
    return float(10 * numpy.log10(max(tone, 1e-12) / max(noise, 1e-12)))


def gaps(samples, rate):
    """How long each gap is, in ms."""
    step = int(rate * GAP_STEP)
    loudness = numpy.sqrt((samples[:len(samples) // step * step].reshape(-1, step) ** 2).mean(axis=1))
    found, length = [], 0
    for is_silent in [*(loudness <= GAP_SHARE * LOUDNESS / 2 ** 0.5), False]:
        if is_silent:
            length += 1
        elif length:
            found.append(1000 * GAP_STEP * length)
            length = 0
    return found


def clicks(samples, rate):
    second_difference = numpy.diff(samples, 2)
    own = LOUDNESS * (2 * numpy.pi * TONE / rate) ** 2
    # What is left of it without the tone, which the difference with a neighbour of the same phase takes away roughly.
    period = round(rate / TONE)
    noise = 1.4826 * numpy.median(numpy.abs(second_difference[period:] - second_difference[:-period]))
    places = numpy.flatnonzero(numpy.abs(second_difference) > max(CLICK_TONE * own, CLICK_NOISE * noise))
    return int((numpy.diff(places) > CLICK_LENGTH * rate).sum() + 1) if places.size else 0
