"""Pixels in an X server's framebuffer, and the scene's counter: read from its memory, without a request to the server.

`Xvfb -fbdir DIR` keeps the screen in the file DIR/Xvfb_screen0, as XWD (X11/XWDFile.h): a header of 32-bit big-endian
numbers, the colours, then the pixels.
"""

import os
import struct

import numpy

from .processes import Failure

BITS, CELL = 16, 16
LEAST_CONTRAST = 70
#: Fields of the header, by their place in it.
HEADER_SIZE, BITS_PER_PIXEL, BYTES_PER_LINE, COLORS = 0, 11, 12, 19
COLOR_SIZE = 12
#: Their places in a pixel.
RED_GREEN_BLUE = numpy.array([2, 1, 0])


def options(folder):
    """Options of an Xvfb whose framebuffer is to be read."""
    return ["-fbdir", folder]


class Screen:
    """The screen of the Xvfb that has this folder."""

    def __init__(self, folder):
        path = os.path.join(folder, "Xvfb_screen0")
        with open(path, "rb") as file:
            header = struct.unpack(">25I", file.read(100))
        if header[BITS_PER_PIXEL] != 32:
            raise Failure("the framebuffer has %d bits a pixel" % header[BITS_PER_PIXEL])
        self._bytes = numpy.memmap(path, numpy.uint8, "r")
        self._start, self._line = header[HEADER_SIZE] + header[COLORS] * COLOR_SIZE, header[BYTES_PER_LINE]

    def copy(self, size, row_step):
        """Rows x width x blue, green and red, of the first of so many rows each."""
        width, height = size
        rows = self._bytes[self._start:self._start + height * self._line].reshape(height, self._line)
        return rows[::row_step, :width * 4].reshape(-1, width, 4)[:, :, :3].copy()


class Pixels(Screen):
    """Pixels at certain places, (x, y) each."""

    def __init__(self, folder, places):
        super().__init__(folder)
        # Where each pixel begins: its blue, green and red, and a byte without meaning.
        self._places = numpy.array([self._start + int(row) * self._line + int(column) * 4 for column, row in places])

    def are(self, color):
        """Which of the pixels have this colour, (red, green, blue): an array of truth values."""
        return (self._bytes[self._places[:, None] + RED_GREEN_BLUE] == color).all(axis=1)


class Framebuffer(Pixels):
    """The counter of a scene that stands at (x, y) of a screen, enlarged by `scale`."""

    def __init__(self, folder, x=0.0, y=0.0, scale=1.0):
        side = CELL * scale
        middles = [(x + (bit + 0.5) * side, y + row * side) for row in (0.5, 1.5) for bit in range(BITS)]
        super().__init__(folder, middles)
        # Green, at the middle of each cell: upper ones first.
        self._greens = self._places + 1
        self._weights = 1 << numpy.arange(BITS - 1, -1, -1)

    def counter(self):
        """What the counter shows; None where it isn't clear."""
        values = self._bytes[self._greens].astype(numpy.int16)
        difference = values[:BITS] - values[BITS:]
        if numpy.abs(difference).min() < LEAST_CONTRAST:
            return None
        return int(self._weights[difference > 0].sum())
