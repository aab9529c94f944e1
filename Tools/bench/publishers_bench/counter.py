"""The number of a picture, painted into its upper left corner and read from it again.

It is 16 cells wide, one for each bit, the highest first. Below each cell is its opposite.
"""

import os
import subprocess

import numpy

from bench_kit.processes import Failure

BITS, CELL = 16, 16
WIDTH, HEIGHT = BITS * CELL, 2 * CELL
DARK, LIGHT = 16, 235
LEAST_CONTRAST = 70
_PLACES = numpy.arange(BITS - 1, -1, -1)


def paint(luma, number):
    """Paints into the rows of a picture's luma."""
    row = numpy.repeat(DARK + (LIGHT - DARK) * (number >> _PLACES & 1), CELL)
    luma[:CELL, :WIDTH] = row
    luma[CELL:HEIGHT, :WIDTH] = DARK + LIGHT - row


def read(corners):
    """The numbers of pictures, of which the bytes are these corners' luma, one after another; None where one isn't
    clear."""
    corners = numpy.frombuffer(corners, numpy.uint8).reshape(-1, HEIGHT, WIDTH).astype(numpy.int16)
    middles = numpy.arange(BITS) * CELL + CELL // 2
    differences = corners[:, CELL // 2, middles] - corners[:, CELL + CELL // 2, middles]
    return [int((one > 0) @ (1 << _PLACES)) if abs(one).min() >= LEAST_CONTRAST else None for one in differences]


def decode(stream, count, folder):
    """The numbers of the `count` pictures of a byte stream of H.264, in the order in which they are shown."""
    path = os.path.join(folder, "played.264")
    with open(path, "wb") as file:
        file.write(stream)
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-threads", "1", "-f", "h264", "-i", path,
               "-fps_mode", "passthrough", "-vf", "crop=%d:%d:0:0" % (WIDTH, HEIGHT),
               "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1"]
    found = subprocess.run(command, capture_output=True, timeout=60)
    numbers = read(found.stdout[:len(found.stdout) // (WIDTH * HEIGHT) * WIDTH * HEIGHT])
    if len(numbers) != count:
        raise Failure("%d of %d pictures are decoded: %s" % (
            len(numbers), count, found.stderr[-200:].decode(errors="replace")))
    return numbers
