"""How near the shown pictures are to what was drawn."""

import os

import numpy

from . import pictures

#: Ours: the capture process encodes with this matrix.
MATRIX = "601"


def measure(scene, samples, count_of):
    """Adds the luma PSNR (dB) as "psnr" to each sample whose picture can be told, and removes its file."""
    wanted = {}
    for sample in samples:
        wanted.setdefault(count_of(sample) * scene.facts.ticks_per_count, []).append(sample)
    ticks = sorted(wanted)
    if not ticks:
        return
    exact = scene.pictures(ticks)
    for tick, picture in zip(ticks, exact):
        luma = pictures.luma_of(picture, MATRIX)
        for sample in wanted[tick]:
            seen = numpy.load(sample["file"])
            os.remove(sample["file"])
            if seen.shape[0] * 2 == luma.shape[0] and seen.shape[1] * 2 == luma.shape[1]:
                seen = _doubled(_doubled(seen).T).T
            if seen.shape == luma.shape:
                sample["psnr"] = pictures.psnr(pictures.masked(seen, luma, scene.facts.pointer), luma)
    exact.close()


def _doubled(rows):
    """Twice as many rows, between which it interpolates as browsers do."""
    padded = numpy.pad(rows.astype(numpy.float32), ((1, 1), (0, 0)), "edge")
    between = numpy.empty((2 * rows.shape[0], rows.shape[1]), numpy.float32)
    between[0::2] = padded[1:-1] * 0.75 + padded[:-2] * 0.25
    between[1::2] = padded[1:-1] * 0.75 + padded[2:] * 0.25
    return between.round().astype(numpy.uint8)
