"""A Wayland client without libraries: one window in one colour, over all of the screen or in a size of its own, or
with a scene in motion.

usage: wayland_window.py RRGGBB [WIDTHxHEIGHT]
       wayland_window.py PROGRAM SCENE RATE

Reads colours from standard input, one a line, and paints them. A colour may be followed by a new size, if the window
has one of its own. Prints `painted RRGGBB` once the compositor has taken the picture. With a size of its own, prints
`active` after the first of these lines, once the window has the keyboard. Or shows the pictures that PROGRAM,
`screenrelay-scene`, paints of SCENE, at most RATE per second, and prints `ready` once the compositor has taken the
first. Ends at the end of its input.
"""

import mmap
import os
import select
import socket
import struct
import subprocess
import sys
import time

DISPLAY, REGISTRY, SYNC = 1, 2, 3
# The pictures of a scene: more than any test looks at.
TICKS = 15000
# Of enum state of xdg_toplevel: the window has the keyboard.
ACTIVATED = 4


class Window:
    def __init__(self, size=None):
        """In this size, or over all of the screen."""
        path = os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"])
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.received, self.last, self.names, self.waiting = b"", REGISTRY, {}, set()
        self.size, self.has_own_size, self.is_configured, self.is_active = size or (0, 0), bool(size), False, False
        self.handlers = {(DISPLAY, 0): self.failed, (REGISTRY, 0): self.found}
        # Registry, and an answer after its names.
        self.send(DISPLAY, 1, struct.pack("=I", REGISTRY))
        self.sync()
        self.compositor = self.bind("wl_compositor", 4)
        self.shared = self.bind("wl_shm", 1)
        self.base = self.bind("xdg_wm_base", 1)
        self.handlers[self.base, 0] = lambda data: self.send(self.base, 3, data)
        self.surface, self.role, self.window = self.new(), self.new(), self.new()
        self.send(self.compositor, 0, struct.pack("=I", self.surface))
        self.send(self.base, 2, struct.pack("=II", self.role, self.surface))
        self.send(self.role, 1, struct.pack("=I", self.window))
        self.handlers[self.window, 0] = self.configured
        self.handlers[self.role, 0] = self.acknowledge
        if not self.has_own_size:
            # Over all of the screen.
            self.send(self.window, 11, struct.pack("=I", 0))
        self.send(self.surface, 6)
        while self.size == (0, 0) or not self.is_configured:
            self.read()
        self.make_buffer()

    def make_buffer(self):
        width, height = self.size
        memory = os.memfd_create("pixels")
        os.ftruncate(memory, width * height * 4)
        self.pixels = mmap.mmap(memory, width * height * 4)
        pool, self.buffer = self.new(), self.new()
        self.send(self.shared, 0, struct.pack("=Ii", pool, width * height * 4), memory)
        # XRGB8888
        self.send(pool, 0, struct.pack("=IiiiiI", self.buffer, 0, width, height, width * 4, 1))

    def new(self):
        self.last += 1
        return self.last

    def bind(self, interface, version):
        number = self.new()
        self.send(REGISTRY, 0, struct.pack("=I", self.names[interface]) + text(interface) +
                  struct.pack("=II", version, number))
        return number

    def send(self, target, request, data=b"", descriptor=None):
        message = struct.pack("=IHH", target, request, len(data) + 8) + data
        passed = [] if descriptor is None else [descriptor]
        socket.send_fds(self.socket, [message], passed)

    def sync(self):
        """Waits until all requests have been handled."""
        callback = self.new()
        self.wait_for(DISPLAY, 0, callback)

    def wait_for(self, target, request, callback):
        self.waiting.add(callback)
        self.handlers[callback, 0] = lambda data: self.waiting.discard(callback)
        self.send(target, request, struct.pack("=I", callback))
        while callback in self.waiting:
            self.read()

    def read(self):
        received = self.socket.recv(65536)
        if not received:
            sys.exit("the compositor has gone")
        self.received += received
        while len(self.received) >= 8:
            target, event, size = struct.unpack_from("=IHH", self.received)
            if len(self.received) < size:
                return
            data, self.received = self.received[8:size], self.received[size:]
            handler = self.handlers.get((target, event))
            if handler:
                handler(data)

    def failed(self, data):
        sys.exit(f"the compositor reports an error: {data[12:].decode(errors='replace')}")

    def found(self, data):
        name, length = struct.unpack_from("=II", data)
        self.names[data[8:8 + length - 1].decode()] = name

    def configured(self, data):
        width, height, count = struct.unpack_from("=iiI", data)
        if not self.has_own_size:
            self.size = width, height
        self.is_active = ACTIVATED in struct.unpack_from(f"={count // 4}I", data, 12)

    def acknowledge(self, data):
        self.send(self.role, 4, data)
        self.is_configured = True

    def wait_until_active(self):
        while not self.is_active:
            self.read()

    def paint(self, colour, size=None):
        if size:
            self.size = size
            self.make_buffer()
        red, green, blue = bytes.fromhex(colour)
        self.pixels[:] = bytes((blue, green, red, 255)) * (len(self.pixels) // 4)
        self.commit([(0, 0, *self.size)])
        self.sync()
        print(f"painted {colour}", flush=True)

    def show_rgb(self, picture):
        """Shows a picture in RGB, and waits until the compositor has taken it."""
        pixels = bytearray(len(self.pixels))
        # XRGB8888 is blue, green, red and nothing.
        for part in range(3):
            pixels[part::4] = picture[2 - part::3]
        self.pixels[:] = pixels
        self.commit([(0, 0, *self.size)])
        self.sync()

    def commit(self, changed):
        """Shows the pixels, which have changed in these rectangles: x, y, width, height."""
        self.send(self.surface, 1, struct.pack("=Iii", self.buffer, 0, 0))
        for rectangle in changed:
            self.send(self.surface, 2, struct.pack("=iiii", *rectangle))
        self.send(self.surface, 6)


def size_of(words):
    width, height = words.split("x")
    return int(width), int(height)


def text(words):
    data = words.encode() + b"\0"
    return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)


def show_scene(program, scene, rate):
    window = Window()
    width, height = window.size
    command = [program, "--scene", scene, "--size", f"{width}x{height}", "--dump", ",".join(map(str, range(TICKS)))]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as painter:
        due = time.monotonic()
        for tick in range(TICKS):
            picture = painter.stdout.read(width * height * 3)
            if len(picture) < width * height * 3:
                sys.exit("the scene has ended")
            window.show_rgb(picture)
            if tick == 0:
                print("ready", flush=True)
            due = max(due, time.monotonic()) + 1 / float(rate)
            while (left := due - time.monotonic()) > 0:
                readable, _, _ = select.select([0, window.socket], [], [], left)
                if window.socket in readable:
                    window.read()
                if 0 in readable and not os.read(0, 4096):
                    return


def show_colours(colour, *size):
    window = Window(*map(size_of, size))
    window.paint(colour)
    if size:
        window.wait_until_active()
        print("active", flush=True)
    pending = b""
    while True:
        readable, _, _ = select.select([0, window.socket], [], [])
        if window.socket in readable:
            window.read()
        if 0 in readable:
            received = os.read(0, 4096)
            if not received:
                return
            *lines, pending = (pending + received).split(b"\n")
            for line in lines:
                colour, *size = line.decode().split()
                window.paint(colour, *map(size_of, size))


if __name__ == "__main__":
    (show_scene if len(sys.argv) == 4 else show_colours)(*sys.argv[1:])
