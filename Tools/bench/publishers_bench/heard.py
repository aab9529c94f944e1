"""Which tone is in what was heard. Pure: samples in, figures out."""

import numpy

from bench_kit.processes import Failure

#: Seconds that are looked at, the last ones, and how far around the strongest frequency counts as the tone, in Hz.
LENGTH, WIDTH = 2, 3


def figures(samples, rate):
    """The strongest frequency, and the share that it has of the sound's power."""
    samples = samples[-LENGTH * rate:].astype(numpy.float64)
    if len(samples) < rate:
        raise Failure("a player heard only %.1f s" % (len(samples) / rate))
    power = numpy.abs(numpy.fft.rfft(samples * numpy.hanning(len(samples)))) ** 2
    frequencies = numpy.fft.rfftfreq(len(samples), 1 / rate)
    strongest = frequencies[power.argmax()]
    near = power[abs(frequencies - strongest) <= WIDTH].sum()
    return {"hertz": float(strongest), "tone_share": float(near / max(power.sum(), 1e-12))}
