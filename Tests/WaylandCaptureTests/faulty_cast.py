"""A PipeWire node that shows pictures as a screen cast does, and is faulty on demand.

usage: faulty_cast.py

Prints `node N` once it is there. Reads commands, and prints `done` and the command:

    format NUMBER WIDTHxHEIGHT [gpu]   offers another format, by its number of enum spa_video_format: 8 is BGRx; with
                                       `gpu`, only in the memory of a graphics card (DMA-BUF)
    memory NUMBER                      new buffers are said to have such memory, by its number of enum spa_data_type
    send [KEY=VALUE...]                sends a picture, as soon as there is a buffer for it

What is sent is a correct picture, except for these, whose meaning is that of PipeWire's structures:

    color=RRGGBB                     of all pixels; black if it isn't given
    lines=Y,COUNT                    rows that are white
    box=X,Y,WIDTH,HEIGHT             a rectangle that is white
    offset=N size=N stride=N flags=N of the chunk
    header=N                         the header's flags
    file=N                           the bytes that remain of the buffer's file
    damage=X,Y,WIDTH,HEIGHT          the metadata, and crop= in the same way
    transform=N
    cursor=ID,X,Y                    the pointer there, or hidden if the ID is 0; without this, it is hidden
    shape=WIDTHxHEIGHT,X,Y,RRGGBB    its new shape, with the hot spot; only the upper left quarter can be seen
    pointer=WIDTHxHEIGHT,STRIDE      a pointer with a shape of this size and no pixels
    repeat=1                         it is sent every 0.2 s, until something else is to be sent

Ends at the end of its input.
"""

import collections
import ctypes
import os
import queue
import struct
import sys
import threading
import time
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_uint32, c_uint64, c_void_p

OUTPUT, SUBTYPES = 1, {"id": 3, "int": 4, "long": 5, "rectangle": 10, "fraction": 11}
OBJECT, FORMAT, PARAM_BUFFERS, PARAM_META = 15, 0x40003, 0x40004, 0x40005
# SPA_POD_PROP_FLAG_MANDATORY: the other side must know the property, too.
MANDATORY = 1 << 3
# enum spa_param_type
ENUM_FORMAT, CHOSEN_FORMAT, BUFFERS, META = 3, 4, 5, 6
# AUTOCONNECT isn't wanted: the reader connects. DRIVER, ALLOC_BUFFERS.
FLAGS = 1 << 3 | 1 << 8
HEADER, CROP, DAMAGE, CURSOR, TRANSFORM = 1, 2, 3, 5, 8
METADATA = {HEADER: 32, CROP: 16, DAMAGE: 64, CURSOR: 28 + 20 + 384 * 384 * 4, TRANSFORM: 4}
MEMFD = 2


class Chunk(Structure):
    _fields_ = [("offset", c_uint32), ("size", c_uint32), ("stride", c_int32), ("flags", c_int32)]


class Data(Structure):
    _fields_ = [
        ("type", c_uint32), ("flags", c_uint32), ("fd", c_int64), ("mapoffset", c_uint32), ("maxsize", c_uint32),
        ("data", c_void_p), ("chunk", POINTER(Chunk)),
    ]


class Meta(Structure):
    _fields_ = [("type", c_uint32), ("size", c_uint32), ("data", c_void_p)]


class SPABuffer(Structure):
    _fields_ = [("n_metas", c_uint32), ("n_datas", c_uint32), ("metas", POINTER(Meta)), ("datas", POINTER(Data))]


class Buffer(Structure):
    _fields_ = [("buffer", POINTER(SPABuffer)), ("user_data", c_void_p), ("size", c_uint64), ("requested", c_uint64)]


PARAM_CHANGED = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_void_p)
BUFFER_CHANGED = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Buffer))


class Events(Structure):
    _fields_ = [
        ("version", c_uint32), ("destroy", c_void_p), ("state_changed", c_void_p), ("control_info", c_void_p),
        ("io_changed", c_void_p), ("param_changed", PARAM_CHANGED), ("add_buffer", BUFFER_CHANGED),
        ("remove_buffer", BUFFER_CHANGED), ("process", c_void_p), ("drained", c_void_p), ("command", c_void_p),
        ("trigger_done", c_void_p),
    ]


def pod(kind, *values):
    body = struct.pack(f"={len(values)}I", *values)
    return struct.pack("=II", len(body), SUBTYPES[kind]) + body + bytes(-len(body) % 8)


def make_object(kind, identifier, *properties):
    """A param; each property is a key and a pod, and may have flags."""
    body = struct.pack("=II", kind, identifier)
    for key, value, *flags in properties:
        body += struct.pack("=II", key, sum(flags)) + value
    return ctypes.create_string_buffer(struct.pack("=II", len(body), OBJECT) + body)


def library():
    result = ctypes.CDLL("libpipewire-0.3.so.0")
    for name, kind, arguments in [
        ("pw_init", None, [c_void_p, c_void_p]), ("pw_thread_loop_new", c_void_p, [c_char_p, c_void_p]),
        ("pw_thread_loop_get_loop", c_void_p, [c_void_p]), ("pw_thread_loop_start", c_int, [c_void_p]),
        ("pw_thread_loop_lock", None, [c_void_p]), ("pw_thread_loop_unlock", None, [c_void_p]),
        ("pw_properties_new_string", c_void_p, [c_char_p]),
        ("pw_stream_new_simple", c_void_p, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
        ("pw_stream_connect", c_int, [c_void_p, c_int, c_uint32, c_int, c_void_p, c_uint32]),
        ("pw_stream_update_params", c_int, [c_void_p, c_void_p, c_uint32]),
        ("pw_stream_get_node_id", c_uint32, [c_void_p]), ("pw_stream_trigger_process", c_int, [c_void_p]),
        ("pw_stream_dequeue_buffer", POINTER(Buffer), [c_void_p]),
        ("pw_stream_queue_buffer", c_int, [c_void_p, POINTER(Buffer)]),
    ]:
        function = getattr(result, name)
        function.restype, function.argtypes = kind, arguments
    return result


class Cast:
    def __init__(self):
        self.pipewire = library()
        self.pipewire.pw_init(None, None)
        self.loop = self.pipewire.pw_thread_loop_new(b"cast", None)
        self.size, self.memory, self.files = (640, 480), MEMFD, {}
        self.events = Events(
            version=2, param_changed=PARAM_CHANGED(self.param_changed), add_buffer=BUFFER_CHANGED(self.add_buffer),
            remove_buffer=BUFFER_CHANGED(self.remove_buffer))
        properties = self.pipewire.pw_properties_new_string(
            b"media.class = Video/Source, node.name = faulty-cast, node.driver = true")
        self.stream = self.pipewire.pw_stream_new_simple(
            self.pipewire.pw_thread_loop_get_loop(self.loop), b"faulty-cast", properties, ctypes.byref(self.events),
            None)
        with_format = self.params(self.format(8))
        self.pipewire.pw_stream_connect(self.stream, OUTPUT, 0xFFFFFFFF, FLAGS, with_format, 1)
        self.pipewire.pw_thread_loop_start(self.loop)

    def params(self, *objects):
        self.kept = objects
        return (c_void_p * len(objects))(*[ctypes.addressof(one) for one in objects])

    def format(self, number, is_on_gpu=False):
        # As mutter and KWin offer DMA-BUF: with a modifier, here that of linear rows.
        modifier = [(0x20002, pod("long", 0, 0), MANDATORY)] if is_on_gpu else []
        return make_object(
            FORMAT, ENUM_FORMAT, (1, pod("id", 2)), (2, pod("id", 1)), (0x20001, pod("id", number)), *modifier,
            (0x20003, pod("rectangle", *self.size)), (0x20004, pod("fraction", 0, 1)))

    def under_lock(self, body):
        self.pipewire.pw_thread_loop_lock(self.loop)
        try:
            return body()
        finally:
            self.pipewire.pw_thread_loop_unlock(self.loop)

    def param_changed(self, context, identifier, param):
        if identifier != CHOSEN_FORMAT or not param:
            return
        width, height = self.size
        params = [
            make_object(
                PARAM_BUFFERS, BUFFERS, (1, pod("int", 4)), (2, pod("int", 1)),
                (3, pod("int", width * height * 4 & 0x7FFFFFFF)), (4, pod("int", width * 4)),
                (6, pod("int", 1 << MEMFD)))
        ] + [make_object(PARAM_META, META, (1, pod("id", kind)), (2, pod("int", METADATA[kind]))) for kind in METADATA]
        self.pipewire.pw_stream_update_params(self.stream, self.params(*params), len(params))

    def add_buffer(self, context, buffer):
        width, height = self.size
        file = os.memfd_create("cast")
        os.ftruncate(file, width * height * 4)
        self.files[ctypes.addressof(buffer.contents)] = file
        data = buffer.contents.buffer.contents.datas[0]
        data.type, data.flags, data.fd, data.mapoffset, data.maxsize = self.memory, 3, file, 0, width * height * 4

    def remove_buffer(self, context, buffer):
        os.close(self.files.pop(ctypes.addressof(buffer.contents)))

    def node(self):
        return self.under_lock(lambda: self.pipewire.pw_stream_get_node_id(self.stream))

    def offer(self, number, size, is_on_gpu):
        self.size = size
        self.under_lock(
            lambda: self.pipewire.pw_stream_update_params(self.stream, self.params(self.format(number, is_on_gpu)), 1))

    def send(self, values):
        """Returns False if there is no buffer for it."""
        buffer = self.pipewire.pw_stream_dequeue_buffer(self.stream)
        if not buffer:
            return False
        width, height = self.size
        file = self.files[ctypes.addressof(buffer.contents)]
        color = bytes.fromhex(values.get("color", "000000"))[::-1] + b"\xff"
        if width * height < 1 << 24:
            os.pwrite(file, color * (width * height), 0)
        if "lines" in values:
            top, count = values["lines"].split(",")
            os.pwrite(file, b"\xff" * (width * 4 * int(count)), width * 4 * int(top))
        if "box" in values:
            left, top, columns, rows = [int(number) for number in values["box"].split(",")]
            for row in range(top, top + rows):
                os.pwrite(file, b"\xff" * (columns * 4), (row * width + left) * 4)
        if "file" in values:
            os.ftruncate(file, int(values["file"]))
        content = buffer.contents.buffer.contents
        chunk = content.datas[0].chunk.contents
        chunk.offset, chunk.size = int(values.get("offset", 0)), int(values.get("size", width * height * 4))
        chunk.stride, chunk.flags = int(values.get("stride", width * 4)), int(values.get("flags", 0))
        for index in range(content.n_metas):
            meta = content.metas[index]
            data = metadata(meta.type, values)[:meta.size]
            ctypes.memset(meta.data, 0, meta.size)
            ctypes.memmove(meta.data, data, len(data))
        self.pipewire.pw_stream_queue_buffer(self.stream, buffer)
        self.pipewire.pw_stream_trigger_process(self.stream)
        return True


def metadata(kind, values):
    def region(text):
        return struct.pack("=iiII", *[int(number) for number in text.split(",")]) if text else b""

    if kind == HEADER:
        return struct.pack("=IIqqQ", int(values.get("header", 0)), 0, time.monotonic_ns(), 0, 0)
    if kind == TRANSFORM:
        return struct.pack("=I", int(values.get("transform", 0)))
    if kind != CURSOR:
        return region(values.get({CROP: "crop", DAMAGE: "damage"}.get(kind)))
    if "cursor" in values:
        return cursor(values)
    if "pointer" not in values:
        return b""
    size, stride = values["pointer"].split(",")
    width, height = size.split("x")
    return struct.pack("=IIiiiiI", 1, 0, 10, 10, 0, 0, 28) + struct.pack(
        "=IIIiI", 12, int(width), int(height), int(stride), 20)


def cursor(values):
    """The pointer as mutter reports it: with a shape only if that is a new one, in RGBA."""
    identifier, x, y = [int(number) for number in values["cursor"].split(",")]
    if "shape" not in values:
        return struct.pack("=IIiiiiI", identifier, 0, x, y, 0, 0, 0)
    size, hot_x, hot_y, color = values["shape"].split(",")
    width, height = [int(side) for side in size.split("x")]
    row = (bytes.fromhex(color) + b"\xff") * (width // 2)
    pixels = (row.ljust(width * 4, b"\0") * (height // 2)).ljust(width * height * 4, b"\0")
    # When a program hides the pointer, mutter sends a bitmap of zeros, without a format.
    bitmap = struct.pack("=IIIiI", 11, width, height, width * 4, 20) if pixels else bytes(20)
    return struct.pack("=IIiiiiI", identifier, 0, x, y, int(hot_x), int(hot_y), 28) + bitmap + pixels


def main():
    cast = Cast()
    while (node := cast.node()) == 0xFFFFFFFF:
        time.sleep(0.01)
    print(f"node {node}", flush=True)
    lines, waiting = queue.Queue(), collections.deque()
    plain, sent = None, 0.0
    threading.Thread(target=read, args=(lines,), daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=0.01)
        except queue.Empty:
            line = ""
        match line and line.split():
            case None:
                return
            case ["format", number, size, *place]:
                cast.offer(int(number), tuple(int(side) for side in size.split("x")), place == ["gpu"])
            case ["memory", kind]:
                cast.memory = int(kind)
            case ["send", *words]:
                waiting.append(dict(word.split("=") for word in words))
        if line:
            print(f"done {line}", flush=True)
        # A picture that is sent before the link is active gets lost, so those without a fault are repeated, too.
        if plain and not waiting and time.monotonic() > sent + 0.2:
            waiting.append(plain)
        while waiting and cast.under_lock(lambda: cast.send(waiting[0])):
            values, sent = waiting.popleft(), time.monotonic()
            plain = values if values.keys() == {"color"} or "repeat" in values else None


def read(lines):
    for line in sys.stdin:
        lines.put(line.strip())
    lines.put(None)


main()
