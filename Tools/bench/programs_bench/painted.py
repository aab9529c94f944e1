"""What programs paint: when, by the Damage extension, and what, by the framebuffer of Xvfb."""

import ctypes
import os
import select
import struct
import threading

import numpy

from bench_kit.processes import Failure, now_ns

#: XDamageReportNonEmpty (X11/extensions/damagewire.h).
REPORT_NON_EMPTY = 3
#: Paints this close together count as one: a program paints a line or a window in several requests.
TOGETHER = 0.003
#: Fields of the framebuffer's header (X11/XWDFile.h), by their place in it, and the size of a colour.
HEADER_SIZE, BYTES_PER_LINE, COLORS = 0, 12, 19
COLOR_SIZE = 12


class Watcher:
    """Notes when something is painted on a display (CLOCK_MONOTONIC, ns), from a thread."""

    def __init__(self, display):
        self.times = []
        self._x11 = ctypes.CDLL("libX11.so.6")
        self._damage = ctypes.CDLL("libXdamage.so.1")
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XDefaultRootWindow.restype = ctypes.c_ulong
        self._damage.XDamageCreate.restype = ctypes.c_ulong
        self._handle = ctypes.c_void_p(self._x11.XOpenDisplay(display.name.encode()))
        if not self._handle:
            raise Failure("no connection to display " + display.name)
        # The library has to be told of the extension before anything is created.
        bases = ctypes.c_int(), ctypes.c_int()
        if not self._damage.XDamageQueryExtension(self._handle, *map(ctypes.byref, bases)):
            raise Failure("the display reports no damage")
        root = ctypes.c_ulong(self._x11.XDefaultRootWindow(self._handle))
        self._area = ctypes.c_ulong(self._damage.XDamageCreate(self._handle, root, REPORT_NON_EMPTY))
        self._x11.XFlush(self._handle)
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self):
        self._ends.set()
        self._thread.join(5)
        self._x11.XCloseDisplay(self._handle)

    def _run(self):
        descriptor = self._x11.XConnectionNumber(self._handle)
        event = ctypes.create_string_buffer(256)
        while not self._ends.is_set():
            if not self._x11.XPending(self._handle):
                select.select([descriptor], [], [], 0.1)
                if not self._x11.XPending(self._handle):
                    continue
            time = now_ns()
            self.times.append(time)
            self._ends.wait(TOGETHER)
            while self._x11.XPending(self._handle):
                self._x11.XNextEvent(self._handle, event)
            self._damage.XDamageSubtract(self._handle, self._area, ctypes.c_ulong(0), ctypes.c_ulong(0))
            self._x11.XFlush(self._handle)


class Framebuffer:
    """The pixels of an Xvfb that was started with `-fbdir`."""

    def __init__(self, folder, size):
        path = os.path.join(folder, "Xvfb_screen0")
        with open(path, "rb") as file:
            header = struct.unpack(">25I", file.read(100))
        start = header[HEADER_SIZE] + header[COLORS] * COLOR_SIZE
        width, height = size
        line = header[BYTES_PER_LINE]
        everything = numpy.memmap(path, numpy.uint8, "r")[start:start + height * line]
        self._pixels = everything.reshape(height, line)[:, :width * 4].reshape(height, width, 4)

    def copy(self, row_step):
        """Rows x width x blue, green and red, of the first of so many rows each."""
        return self._pixels[::row_step, :, :3].copy()
