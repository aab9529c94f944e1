"""One direction of a network path, without clock and I/O: packets and times go in, packets that are due come out.

    packet ─▶ queue, served at the rate ─▶ loss ─▶ delay and jitter ─▶ reordering, duplicates ─▶ packet

Times are seconds of CLOCK_MONOTONIC. A size is that of the IP packet; the rate counts nothing else. What is lost has
used the narrow hop, as on a radio link behind a router.
"""

import collections
import heapq
import random

#: How the path treats packets when nothing else is said.
CLEAN = {
    "rate": None,  # bits a second; None is without limit
    "queue": 300.0,  # the longest wait in the narrow hop, in ms of the rate now; what would wait longer is dropped
    "delay": 0.0,  # ms, one way
    "jitter": 0.0,  # plus or minus so many ms, the same for packets that come together; keeps their order
    "loss": 0.0,  # the share of packets that are lost
    "burst": 0.0,  # the mean number of packets that are lost together (Gilbert-Elliott); 0: each by itself
    "reorder": 0.0,  # the share of packets that are held back by
    "reorder_by": 0.0,  # so many ms
    "duplicate": 0.0,  # the share of packets that come twice
}
#: The second copy of a packet comes within so many seconds.
SECOND_COPY = 0.010
#: Packets within so many seconds share a value of jitter.
TOGETHER = 0.010


def settings(**changes):
    """CLEAN with these changes."""
    unknown = set(changes) - set(CLEAN)
    if unknown:
        raise ValueError("no such setting: " + ", ".join(sorted(unknown)))
    return dict(CLEAN, **changes)


class Direction:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.settings = dict(CLEAN)
        self.counters = collections.Counter()
        self._queue = collections.deque()
        self._queued_bits = 0
        self._head_done = None  # when the packet at the head of the queue has been sent
        self._travelling = []  # a heap of (arrival, number, packet)
        self._number = 0
        self._last_arrival = 0.0
        self._is_bad = False  # the state of Gilbert-Elliott
        self._jitter, self._jitter_until = 0.0, 0.0

    def set(self, now, changed):
        """Applies new settings; what is queued is sent at the new rate from now on."""
        before, self.settings = self.settings["rate"], changed
        rate = changed["rate"]
        if self._head_done is not None:
            if rate is None:
                while self._queue:
                    self._sent(now, self._queue.popleft())
                self._queued_bits, self._head_done = 0, None
            else:
                self._head_done = now + max(0.0, self._head_done - now) * before / rate
        if not changed["burst"]:
            self._is_bad = False

    def waiting(self, now):
        """Seconds that a packet would wait in the queue now."""
        if self._head_done is None:
            return 0.0
        behind_head = self._queued_bits - len(self._queue[0]) * 8
        return max(0.0, self._head_done - now) + behind_head / self.settings["rate"]

    def enter(self, now, packet):
        self.counters["packets"] += 1
        self.counters["bytes"] += len(packet)
        rate = self.settings["rate"]
        if rate is None:
            self._sent(now, packet)
        elif self.waiting(now) * 1000 > self.settings["queue"]:
            self.counters["dropped"] += 1
        else:
            bits = len(packet) * 8
            if self._head_done is None:
                self._head_done = now + bits / rate
            self._queue.append(packet)
            self._queued_bits += bits

    def next_time(self):
        """When `due` has to be called next; None if nothing is under way."""
        arrival = self._travelling[0][0] if self._travelling else None
        times = [time for time in (self._head_done, arrival) if time is not None]
        return min(times) if times else None

    def due(self, now):
        """The packets that have arrived by now, each with the time when it should have."""
        while self._head_done is not None and self._head_done <= now:
            packet, done = self._queue.popleft(), self._head_done
            self._queued_bits -= len(packet) * 8
            self._head_done = done + len(self._queue[0]) * 8 / self.settings["rate"] if self._queue else None
            self._sent(done, packet)
        while self._travelling and self._travelling[0][0] <= now:
            time, _, packet = heapq.heappop(self._travelling)
            self.counters["arrived"] += 1
            self.counters["arrived_bytes"] += len(packet)
            yield time, packet

    def _sent(self, now, packet):
        if self._loses():
            self.counters["lost"] += 1
            return
        arrival = max(self._last_arrival, now + max(0.0, self.settings["delay"] + self._jitter_at(now)) / 1000)
        if self.random.random() < self.settings["reorder"]:
            self.counters["reordered"] += 1
            arrival += self.settings["reorder_by"] / 1000
        else:
            self._last_arrival = arrival
        self._push(arrival, packet)
        if self.random.random() < self.settings["duplicate"]:
            self.counters["duplicated"] += 1
            self._push(arrival + self.random.random() * SECOND_COPY, packet)

    def _push(self, arrival, packet):
        self._number += 1
        heapq.heappush(self._travelling, (arrival, self._number, packet))

    def _loses(self):
        share, burst = self.settings["loss"], self.settings["burst"]
        if not burst:
            return self.random.random() < share
        # All are lost in the bad state, none in the good one. Mean stay in the bad one: `burst` packets.
        leaves = 1 / burst if self._is_bad else share / (burst * (1 - share))
        if self.random.random() < leaves:
            self._is_bad = not self._is_bad
        return self._is_bad

    def _jitter_at(self, now):
        width = self.settings["jitter"]
        if width and now >= self._jitter_until:
            self._jitter, self._jitter_until = self.random.uniform(-width, width), now + TOGETHER
        return self._jitter if width else 0.0
