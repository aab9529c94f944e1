"""The number of a picture, painted into its upper left corner and read from it again.

It is 16 cells wide, one for each bit, the highest first. Below each cell is its opposite.
"""

import numpy

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
