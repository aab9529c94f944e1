"""When programs paint, by the Damage extension."""

import ctypes
import select
import threading

from bench_kit.processes import Failure, now_ns

#: XDamageReportNonEmpty (X11/extensions/damagewire.h).
REPORT_NON_EMPTY = 3
#: Paints this close together count as one: a program paints a line or a window in several requests.
TOGETHER = 0.003


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
