"""The process of one path: two TUN devices and what lies between them.

Started in the host's network namespace, it makes the host's end of the path there, moves itself to a new namespace,
which is the viewer's, and makes the viewer's end in it:

    host ── 10.77.N.1 (vN) ── this process ── 10.77.N.2 (eth0) ── viewer

Standard input has one JSON object a line: {"at": SECONDS, "phase": NAME, "down": SETTINGS, "up": SETTINGS} changes the
path at a time of CLOCK_MONOTONIC, and {"report": true} asks for what it has done, which comes as one line. At the end
of standard input it ends, and both ends of the path with it.
"""

import collections
import ctypes
import fcntl
import gc
import json
import os
import select
import struct
import subprocess
import sys
import time

from .namespaces import CLONE_NEWNET
from .path import Direction

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
#: What is reported over time is counted in steps of so many seconds.
STEP = 0.05
LONGEST_PACKET = 2048


def main():
    number, seed = int(sys.argv[1]), int(sys.argv[2])
    host = open_device("v%d" % number, "10.77.%d.1/24" % number)
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    quieten()
    viewer = open_device("eth0", "10.77.%d.2/24" % number)
    run("ip", "link", "set", "lo", "up")
    # A browser doesn't use a network that leads nowhere.
    run("ip", "route", "add", "default", "via", "10.77.%d.1" % number)
    try:
        # It sleeps most of the time, and what it does late would be measured as delay.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        pass
    gc.disable()
    print("ready", flush=True)
    Forwarder(host, viewer, seed).run()


def quieten():
    """Keeps router solicitations and the like off the path."""
    for name in ("all", "default"):
        try:
            with open("/proc/sys/net/ipv6/conf/%s/disable_ipv6" % name, "w") as file:
                file.write("1")
        except OSError:
            pass


def open_device(name, address):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    run("ip", "address", "add", address, "dev", name)
    run("ip", "link", "set", name, "txqueuelen", "2000", "up")
    return descriptor


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


class Account:
    """What one direction has done in each phase, and over time."""

    def __init__(self, direction):
        self.direction = direction
        self.phases = []  # [name, start, counters at its start]
        self.bytes = collections.Counter()
        self.waiting = collections.defaultdict(float)
        self.late = collections.Counter()  # tenths of a millisecond

    def begin(self, name, now):
        self.phases.append((name, now, self.direction.counters.copy()))

    def entered(self, now, waited):
        step = int(now / STEP)
        if waited > self.waiting[step]:
            self.waiting[step] = waited

    def arrived(self, now, due, size):
        self.bytes[int(now / STEP)] += size
        self.late[min(1000, int((now - due) * 10_000))] += 1

    def document(self):
        phases = []
        ends = [one[2] for one in self.phases[1:]] + [self.direction.counters]
        for (name, start, before), after in zip(self.phases, ends):
            counted = {key: after[key] - before[key] for key in after if after[key] != before[key]}
            phases.append({"phase": name, "start": start, **counted})
        return {
            "phases": phases,
            "bytes": [[round(step * STEP, 2), self.bytes[step]] for step in sorted(self.bytes)],
            "waiting": [[round(step * STEP, 2), round(wait, 4)] for step, wait in sorted(self.waiting.items()) if wait],
            "late_p50_ms": self._late(0.5), "late_p99_ms": self._late(0.99)}

    def _late(self, share):
        total, seen = sum(self.late.values()), 0
        for tenths in sorted(self.late):
            seen += self.late[tenths]
            if seen >= share * total:
                return tenths / 10
        return 0.0


class Forwarder:
    def __init__(self, host, viewer, seed):
        self.down, self.up = Direction(seed), Direction(seed + 1)
        #: By the device that is read: the direction, its account, and the device that is written.
        self.ways = {host: (self.down, Account(self.down), viewer), viewer: (self.up, Account(self.up), host)}
        self.changes = collections.deque()
        self.input = b""

    def run(self):
        devices = list(self.ways)
        while True:
            readable, _, _ = select.select(devices + [0], [], [], self._timeout())
            if 0 in readable and not self._command():
                return
            self._change(time.monotonic())
            for device in devices:
                self._forward(device, device in readable)

    def _timeout(self):
        times = [way[0].next_time() for way in self.ways.values()]
        times.append(self.changes[0]["at"] if self.changes else None)
        times = [time for time in times if time is not None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _forward(self, device, is_readable):
        direction, account, other = self.ways[device]
        # At most so many at once, so that the other direction has its turn.
        for _ in range(64 if is_readable else 0):
            try:
                packet = os.read(device, LONGEST_PACKET)
            except BlockingIOError:
                break
            now = time.monotonic()
            for due, earlier in direction.due(now):
                self._write(other, earlier, account, now, due)
            direction.enter(now, packet)
            account.entered(now, direction.waiting(now))
        now = time.monotonic()
        for due, packet in direction.due(now):
            self._write(other, packet, account, now, due)

    def _write(self, device, packet, account, now, due):
        try:
            os.write(device, packet)
        except OSError:
            account.direction.counters["unwritten"] += 1
            return
        account.arrived(now, due, len(packet))

    def _change(self, now):
        while self.changes and self.changes[0]["at"] <= now:
            change = self.changes.popleft()
            for direction, account in ((way[0], way[1]) for way in self.ways.values()):
                direction.set(now, change["down" if direction is self.down else "up"])
                account.begin(change["phase"], now)

    def _command(self):
        """Reads standard input; False at its end."""
        data = os.read(0, 65536)
        self.input += data
        while b"\n" in self.input:
            line, self.input = self.input.split(b"\n", 1)
            command = json.loads(line)
            if "report" in command:
                ways = {way[0]: way[1].document() for way in self.ways.values()}
                print(json.dumps({"down": ways[self.down], "up": ways[self.up]}), flush=True)
            else:
                self.changes.append(command)
        return bool(data)


if __name__ == "__main__":
    main()
