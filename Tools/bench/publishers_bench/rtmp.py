"""What an RTMP client sends (Adobe's RTMP 1.0), read from its bytes. Pure: bytes and times in, messages out."""

from .flv import START_CODE, Arrivals

#: C0, C1 and C2 of the handshake (section 5.2).
HANDSHAKE = 1 + 2 * 1536
#: Bytes of a chunk's header by its form (section 5.3.1.2), the first size of chunks, and the types of two messages.
HEADERS, CHUNK_SIZE, SET_CHUNK_SIZE, VIDEO = (11, 7, 3, 0), 128, 1, 9


class _Stream:
    """A chunk stream: what its last header said, and the part of a message that is there."""

    def __init__(self):
        self.time, self.step, self.length, self.kind, self.body = 0, 0, 0, 0, bytearray()

    def read(self, form, header):
        """The header of a chunk. Without a time, a message's first one repeats the last step, or the first time."""
        if form < 2:
            self.length, self.kind = int.from_bytes(header[3:6], "big"), header[6]
        if form < 3:
            self.step = int.from_bytes(header[:3], "big")
        if form == 0:
            self.time = self.step
        elif not self.body:
            self.time += self.step


def messages(chunks):
    """The messages of an RTMP client in these parts of its bytes, each with its time: (type, time in ms, body, when its
    last byte was there). OBS and FFmpeg need no numbers of chunk streams of more than one byte, and extended times are
    for hours."""
    data, arrivals = b"".join(one for _, one in chunks), Arrivals(chunks)
    place, size, streams = HANDSHAKE, CHUNK_SIZE, {}
    while place < len(data):
        form, stream = data[place] >> 6, streams.setdefault(data[place] & 63, _Stream())
        place += 1 + HEADERS[form]
        if place > len(data):
            return
        stream.read(form, data[place - HEADERS[form]:place])
        piece = min(size, stream.length - len(stream.body))
        if place + piece > len(data):
            return
        stream.body += data[place:place + piece]
        place += piece
        if len(stream.body) == stream.length:
            body, stream.body = bytes(stream.body), bytearray()
            if stream.kind == SET_CHUNK_SIZE:
                size = int.from_bytes(body[:4], "big")
            yield stream.kind, stream.time, body, arrivals.of(place)


def parameter_sets(record):
    """Those of a decoder configuration (ISO/IEC 14496-15, section 5.3.3.1), as a byte stream."""
    found, place = b"", 5
    for mask in (31, 255):
        count, place = record[place] & mask, place + 1
        for _ in range(count):
            end = place + 2 + int.from_bytes(record[place:place + 2], "big")
            found, place = found + START_CODE + record[place + 2:end], end
    return found


def byte_stream(body):
    """NAL units, each of which follows its length in four bytes."""
    found, place = bytearray(), 0
    while place + 4 <= len(body):
        end = place + 4 + int.from_bytes(body[place:place + 4], "big")
        found, place = found + START_CODE + body[place + 4:end], end
    return bytes(found)
