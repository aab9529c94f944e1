"""A Wayland client that shows a scene over all of the screen, by wl_shm; for Debian's own Python.

    client JSON    what WaylandScene passes on

It says what `screenrelay-scene --start-on-line` says: `ready`, and after a line on standard input `started` and
`stopped`, each with the time. The last line is a JSON object: when each count was handed to the compositor.

The pictures are those of `screenrelay-scene --dump`, so that both displays show the same. They are read and compared
ahead of time: at a tick, only what changed is copied.
"""

import json
import math
import os
import queue
import select
import struct
import subprocess
import sys
import threading
import time

import dbus
import numpy

from .bench import REPOSITORY

sys.path.append(os.path.join(REPOSITORY, "Tests", "EndToEndTests", "Clients"))
from wayland_window import Window  # noqa: E402

REMOTE = "org.gnome.Mutter.RemoteDesktop"
#: Rows that are compared at once: what changes in different places isn't damaged as one large rectangle.
BAND = 32
#: Pictures that are read ahead.
AHEAD = 6
ARROW = 24


class SceneWindow(Window):
    """The window, over which the pointer is an arrow."""

    def __init__(self):
        super().__init__()
        self.seat, self.pointer = self.bind("wl_seat", 1), None
        self.handlers[self.seat, 0] = self.has_devices
        self.view = numpy.frombuffer(self.pixels, numpy.uint32).reshape(self.size[1], self.size[0])

    def show(self, changes):
        """Shows a picture by what is new in it."""
        for (x, y, width, height), pixels in changes:
            self.view[y:y + height, x:x + width] = pixels
        self.commit([place for place, _ in changes])

    def has_devices(self, data):
        if struct.unpack("=I", data)[0] & 1 and self.pointer is None:
            self.pointer = self.new()
            self.handlers[self.pointer, 0] = self.entered
            self.send(self.seat, 0, struct.pack("=I", self.pointer))

    def entered(self, data):
        """Gives the pointer its shape: without one, it is hidden over this window."""
        arrow = self.new()
        self.send(self.compositor, 0, struct.pack("=I", arrow))
        memory = os.memfd_create("arrow")
        rows = [[0xFFFFFFFF if column <= row else 0 for column in range(ARROW)] for row in range(ARROW)]
        os.write(memory, numpy.array(rows, numpy.uint32).tobytes())
        pool, picture = self.new(), self.new()
        self.send(self.shared, 0, struct.pack("=Ii", pool, ARROW * ARROW * 4), memory)
        # ARGB8888
        self.send(pool, 0, struct.pack("=IiiiiI", picture, 0, ARROW, ARROW, ARROW * 4, 0))
        self.send(self.pointer, 0, data[:4] + struct.pack("=Iii", arrow, 0, 0))
        self.send(arrow, 1, struct.pack("=Iii", picture, 0, 0))
        self.send(arrow, 2, struct.pack("=iiii", 0, 0, ARROW, ARROW))
        self.send(arrow, 6)

    def read_until(self, when, *more):
        """Handles events until then, or until one of the other descriptors is readable; whether one is."""
        while True:
            left = None if when is None else max(0, when - time.monotonic())
            ready = select.select([self.socket, *more], [], [], left)[0]
            if self.socket in ready:
                self.read()
            elif ready or left == 0:
                return bool(ready)


class Mouse:
    """The desktop's pointer, which is moved as by a remote desktop: a client can't move it."""

    def __init__(self, area):
        bus = dbus.SessionBus()
        desktop = dbus.Interface(bus.get_object(REMOTE, "/org/gnome/Mutter/RemoteDesktop"), REMOTE)
        self.session = dbus.Interface(bus.get_object(REMOTE, desktop.CreateSession()), REMOTE + ".Session")
        self.session.Start()
        x, y, width, height = area
        self.middle, self.reach = (x + width // 2, y + height // 2), ((width - 64) / 2, (height - 64) / 2)
        # To the corner, wherever it is.
        self.session.NotifyPointerMotionRelative(-20000.0, -20000.0)
        self.place = (0, 0)

    def move(self, tick):
        """Around the area in three seconds at sixty ticks a second, as the scene's pointer on an X display."""
        angle = tick * 2 * math.pi / 180
        x, y = self.middle
        if self.reach[0] > 0:
            x, y = x + int(self.reach[0] * math.cos(angle)), y + int(self.reach[1] * math.sin(2 * angle))
        if (x, y) != self.place:
            self.session.NotifyPointerMotionRelative(float(x - self.place[0]), float(y - self.place[1]))
            self.place = (x, y)


def read_pictures(asked, pictures):
    """Puts what changes with each picture into a queue."""
    width, height = asked["size"]
    command = [asked["program"], "--scene", asked["scene"], "--size", "%dx%d" % (width, height), "--dump",
               ",".join(str(tick) for tick in asked["painted"])]
    before = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
        for _ in asked["painted"]:
            data = child.stdout.read(width * height * 3)
            if len(data) != width * height * 3:
                os._exit(1)
            colours = numpy.frombuffer(data, numpy.uint8).reshape(-1, 3)
            picture = numpy.zeros((height, width), numpy.uint32)
            # XRGB8888 is blue, green, red and nothing. One by one is six times as fast as all three reversed.
            for part in range(3):
                picture.view(numpy.uint8).reshape(-1, 4)[:, part] = colours[:, 2 - part]
            pictures.put(changes(before, picture))
            before = picture


def changes(before, picture):
    """The rectangles of a picture that differ from the one before, with their pixels."""
    height, width = picture.shape
    if before is None:
        return [((0, 0, width, height), picture)]
    found = []
    for top in range(0, height, BAND):
        differs = before[top:top + BAND] != picture[top:top + BAND]
        columns = numpy.flatnonzero(differs.any(axis=0))
        if columns.size:
            left, right = int(columns[0]), int(columns[-1]) + 1
            part = picture[top:top + BAND, left:right]
            found.append(((left, top, right - left, part.shape[0]), part))
    return found


def main(text):
    asked = json.loads(text)
    painted, drawn = set(asked["painted"]), {}
    pictures = queue.Queue(AHEAD)
    threading.Thread(target=read_pictures, args=(asked, pictures), daemon=True).start()
    window = SceneWindow()
    window.show(pictures.get())
    window.sync()
    mouse = Mouse(asked["pointer"])
    mouse.move(0)
    # Its shape appears with the window's answer to it.
    window.read_until(time.monotonic() + 0.2)
    say("ready")
    if not window.read_until(None, 0) or not os.read(0, 1):
        return
    began = time.monotonic()
    say("started %d" % (began * 1e9))
    for tick in range(1, asked["ticks"] + 1):
        window.read_until(began + tick / asked["rate"])
        if tick in painted:
            window.show(pictures.get())
            drawn[tick // asked["count"]] = time.monotonic_ns()
        mouse.move(tick)
    say("stopped %d" % time.monotonic_ns())
    say(json.dumps(drawn))
    while True:
        window.read()


def say(line):
    print(line, flush=True)


main(*sys.argv[1:])
