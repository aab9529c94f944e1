"""What FFmpeg writes into a pipe instead of to a host: an FLV stream, as over RTMP."""

import os
import threading
import time

START_CODE = b"\0\0\0\1"
OUTPUT = ["-f", "flv", "pipe:1"]


class Reader:
    """Reads a process's standard output, with the time at which each part arrived."""

    def __init__(self, process):
        self._chunks, self._descriptor = [], process.child.stdout.fileno()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        while data := os.read(self._descriptor, 1 << 20):
            self._chunks.append((time.monotonic(), data))

    def arrived(self, rate):
        """When each picture's last byte had arrived, by its number; at the end of the process."""
        self._thread.join(5)
        return _pictures(self._chunks, rate)


class Arrivals:
    """When bytes had arrived that came in these parts, each with its time."""

    def __init__(self, chunks):
        self._ends, self._chunk = [], 0
        for when, one in chunks:
            self._ends.append((len(one) + (self._ends[-1][0] if self._ends else 0), when))

    def of(self, end):
        """When all bytes before `end` had, which is not before that of the last question."""
        while self._ends[self._chunk][0] < end:
            self._chunk += 1
        return self._ends[self._chunk][1]


def _pictures(chunks, rate):
    """Of the tags of an FLV stream (Adobe's specification, annex E)."""
    data, arrivals = b"".join(one for _, one in chunks), Arrivals(chunks)
    arrived, first, place = {}, None, 13
    while place + 11 <= len(data):
        size = int.from_bytes(data[place + 1:place + 4], "big")
        end = place + 11 + size
        if end > len(data):
            break
        body = data[place + 11:end]
        # A video tag of H.264 with NAL units.
        if data[place] == 9 and body[0] & 15 == 7 and body[1] == 1:
            decoded = int.from_bytes(data[place + 4:place + 7], "big") | data[place + 7] << 24
            shown = decoded + int.from_bytes(body[2:5], "big", signed=True)
            first = shown if first is None else first
            arrived[round((shown - first) * rate / 1000)] = arrivals.of(end)
        # The size of each tag follows it.
        place = end + 4
    return arrived
