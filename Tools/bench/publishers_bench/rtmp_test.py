"""Tests what Tools/bench/publishers reads of RTMP: messages with known times."""

import unittest

from . import rtmp
from .flv import START_CODE

BEGIN = bytes(rtmp.HANDSHAKE)


def chunk(form, stream, data, step=0, length=None, kind=rtmp.VIDEO):
    """A chunk of these data; `length` is that of its message."""
    header = step.to_bytes(3, "big") + (len(data) if length is None else length).to_bytes(3, "big") + bytes([kind])
    return bytes([form << 6 | stream]) + (header + bytes(4))[:rtmp.HEADERS[form]] + data


def read(*chunks):
    """What is read where each byte has a time of its own."""
    data = BEGIN + b"".join(chunks)
    return list(rtmp.messages([(place, data[place:place + 1]) for place in range(len(data))]))


class Messages(unittest.TestCase):
    def test_times_are_absolute_or_steps(self):
        times = [when for _, when, _, _ in read(
            chunk(0, 4, b"a", 1000), chunk(1, 4, b"bc", 33), chunk(2, 4, b"de", 34), chunk(3, 4, b"fg"))]
        self.assertEqual(times, [1000, 1033, 1067, 1101])

    def test_a_message_in_pieces_is_there_with_its_last_byte(self):
        first, last = chunk(0, 4, bytes(128), 40, length=130), chunk(3, 4, b"yz")
        other = chunk(0, 3, b"between", 7, kind=8)
        self.assertEqual(read(first, other, last), [
            (8, 7, b"between", rtmp.HANDSHAKE + len(first + other) - 1),
            (rtmp.VIDEO, 40, bytes(128) + b"yz", rtmp.HANDSHAKE + len(first + other + last) - 1)])

    def test_the_size_of_chunks_changes(self):
        size = chunk(0, 2, (4096).to_bytes(4, "big"), kind=rtmp.SET_CHUNK_SIZE)
        self.assertEqual(read(size, chunk(0, 4, bytes(300), 5))[1][:3], (rtmp.VIDEO, 5, bytes(300)))

    def test_each_beginning_has_the_messages_that_are_whole(self):
        parts = [chunk(0, 4, b"abc", 1), chunk(1, 4, bytes(128), 1, length=200), chunk(3, 4, bytes(72))]
        data = BEGIN + b"".join(parts)
        whole = [len(BEGIN + parts[0]), len(data)]
        for end in range(len(data) + 1):
            found = list(rtmp.messages([(0.0, data[:end])] if end else []))
            self.assertEqual(len(found), sum(1 for one in whole if one <= end), end)


class Pictures(unittest.TestCase):
    def test_units_become_a_byte_stream(self):
        body = b"\0\0\0\2ab" + b"\0\0\0\1c"
        self.assertEqual(rtmp.byte_stream(body), START_CODE + b"ab" + START_CODE + b"c")

    def test_parameter_sets_of_a_configuration(self):
        record = bytes([1, 100, 0, 31, 255, 225, 0, 2]) + b"sp" + bytes([1, 0, 3]) + b"pps"
        self.assertEqual(rtmp.parameter_sets(record), START_CODE + b"sp" + START_CODE + b"pps")


if __name__ == "__main__":
    unittest.main()
