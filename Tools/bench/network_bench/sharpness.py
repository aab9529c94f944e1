"""How near the shown pictures are to what was drawn."""

import os

import numpy

from capture_bench import pictures

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
            if seen.shape == luma.shape:
                sample["psnr"] = pictures.psnr(pictures.masked(seen, luma, scene.facts.pointer), luma)
    exact.close()
