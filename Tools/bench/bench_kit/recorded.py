"""Reads the messages of a recording (Protocol/recording.md)."""

import dataclasses
import struct

MAGIC = b"\x89SRR\r\n\x1a\n"
RECORD = struct.Struct("<2sBBIQII")
MESSAGE, CONNECTION = 1, 2
TO_CAPTURE = 4
HELLO, END = 1, 5


@dataclasses.dataclass
class Message:
    """One message of the link; its arrival in nanoseconds since the recording began."""
    arrival: int
    data: bytes

    @property
    def kind(self):
        return self.data[1]

    @property
    def length(self):
        return len(self.data)


def connections(path):
    """What was sent to the host in each of a recording's connections, without hello and end, which a replay says itself."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(MAGIC):
        raise ValueError("%s is no recording" % path)
    found = []
    offset = struct.unpack_from("<H", data, 10)[0]
    while offset + RECORD.size <= len(data):
        marker, kind, flags, length, arrival, _, _ = RECORD.unpack_from(data, offset)
        if marker != b"\x1eR":
            raise ValueError("no record at byte %d of %s" % (offset, path))
        offset += RECORD.size
        if kind == CONNECTION:
            found.append([])
        elif kind == MESSAGE and not flags & TO_CAPTURE:
            message = Message(arrival, data[offset:offset + length])
            if found and message.kind not in (HELLO, END):
                found[-1].append(message)
        offset += length
    return found
