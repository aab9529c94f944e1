"""Measures the paths themselves: is what they do what was asked of them?"""

import json
import statistics
import subprocess
import sys
import tempfile
import time

from bench_kit.namespaces import HostNetwork, Path
from bench_kit.path import settings
from bench_kit.processes import Failure
from bench_kit.report import table

PAYLOAD = 1172  # with 28 bytes of IP and UDP: packets of 1200 bytes

#: Each: name, settings towards the viewer, kbit/s that are sent, and what is expected by the name of a figure:
#: (least, most).
CASES = [
    ("nothing", settings(), 4000, {"kbit/s": (3950, 4050), "lost %": (0, 0), "delay p50": (0, 1), "delay p99": (0, 5)}),
    ("delay 20 ms", settings(delay=20), 4000,
     {"lost %": (0, 0), "delay p50": (20, 21), "delay p99": (20, 25), "out of order %": (0, 0)}),
    ("500 kbit/s, 300 ms", settings(rate=500_000, queue=300, delay=20), 1000,
     {"kbit/s": (495, 505), "lost %": (45, 52), "delay p50": (325, 345), "delay p99": (330, 350)}),
    ("500 kbit/s, half used", settings(rate=500_000, queue=300), 250,
     {"kbit/s": (245, 255), "lost %": (0, 0), "delay p50": (19, 21)}),
    ("4 Mbit/s, 100 ms", settings(rate=4_000_000, queue=100), 6000,
     {"kbit/s": (3950, 4040), "lost %": (31, 36), "delay p50": (98, 106)}),
    ("5 % loss", settings(loss=0.05), 4000, {"lost %": (3, 7), "lost together": (1.0, 1.25)}),
    ("20 % loss", settings(loss=0.20), 4000, {"lost %": (17, 23), "lost together": (1.1, 1.45)}),
    ("bursts of 5, 2 %", settings(loss=0.02, burst=5), 8000, {"lost %": (0.8, 3.5), "lost together": (3, 7.5)}),
    ("duplicates 20 %", settings(duplicate=0.2), 4000, {"twice %": (17, 23), "lost %": (0, 0)}),
    ("reordering 5 % by 30 ms", settings(delay=20, reorder=0.05, reorder_by=30), 4000,
     {"lost %": (0, 0), "out of order %": (3, 7), "delay p50": (20, 21), "delay p99": (49, 55)}),
    ("jitter of 20 ms", settings(delay=20, jitter=20), 1000,
     {"lost %": (0, 0), "delay p50": (16, 28), "delay p99": (37, 45), "out of order %": (0, 0)}),
]
FIGURES = ["kbit/s", "lost %", "lost together", "delay p50", "delay p99", "out of order %", "twice %"]

#: Sender and receiver come before everything else on the machine: it is the path that is measured.
_FIRST = """
import os
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
"""
_SENDER = _FIRST + """
import socket, struct, sys, time
address, rate, seconds, size = sys.argv[1], float(sys.argv[2]) * 1000, float(sys.argv[3]), int(sys.argv[4])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
step, start = (size + 28) * 8 / rate, time.monotonic()
for number in range(int(seconds / step)):
    time.sleep(max(0, start + number * step - time.monotonic()))
    out.sendto(struct.pack("<Qd", number, time.monotonic()).ljust(size, b"."), (address, 7000))
"""
_RECEIVER = _FIRST + """
import json, socket, struct, sys, time
seconds = float(sys.argv[1])
into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
into.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
into.bind(("0.0.0.0", 7000))
into.settimeout(0.1)
print("ready", flush=True)
end, seen = time.monotonic() + seconds, []
while time.monotonic() < end:
    try:
        data = into.recv(2048)
    except TimeoutError:
        continue
    seen.append((*struct.unpack_from("<Qd", data), time.monotonic()))
print(json.dumps(seen), flush=True)
"""


def check_path(seconds, seed, say):
    """Measures every case; gives the lines of a table and what was not as expected."""
    rows, faults = [], []
    with tempfile.TemporaryDirectory(prefix="nwb") as folder:
        host, path = None, None
        try:
            host = HostNetwork(folder)
            path = Path(host, 1, seed, folder)
            for name, down, rate, expected in CASES:
                path.change(time.monotonic(), name, down, settings())
                say("path: " + name)
                figures = _measure(host, path, rate, seconds)
                rows.append([name, "%d" % rate] + ["%.4g" % figures[key] for key in FIGURES])
                for key, (least, most) in expected.items():
                    if not least <= figures[key] <= most:
                        faults.append("%s: %s is %.4g, not from %g to %g" % (name, key, figures[key], least, most))
            late = path.report()["down"]
        finally:
            for one in (path, host):
                if one:
                    one.close()
    lines = table(["path", "sent kbit/s"] + FIGURES, rows)
    lines += ["", "Packets left the path %.1f ms (p50) and %.1f ms (p99) after their time." % (
        late["late_p50_ms"], late["late_p99_ms"])]
    return lines, faults


def _measure(host, path, rate, seconds):
    receiver = subprocess.Popen(path.prefix + [sys.executable, "-c", _RECEIVER, str(seconds + 1.5)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        if receiver.stdout.readline() != b"ready\n":
            raise Failure("the receiver did not start")
        subprocess.run(host.prefix + [sys.executable, "-c", _SENDER, path.viewer_address, str(rate), str(seconds),
                                      str(PAYLOAD)], check=True, timeout=seconds + 20)
        seen = json.loads(receiver.stdout.readline())
    finally:
        receiver.kill()
        receiver.wait()
        receiver.stdout.close()
    if len(seen) < 20:
        raise Failure("only %d packets came through the path" % len(seen))
    return _figures(seen, rate, seconds)


def _figures(seen, rate, seconds):
    sent = int(seconds / ((PAYLOAD + 28) * 8 / (rate * 1000)))
    once, order, highest, late = {}, [], -1, 0
    for number, left, came in seen:
        if number not in once:
            once[number] = (left, came)
            order.append(number)
            if number < highest:
                late += 1
            highest = max(highest, number)
    # The queue fills in the first second, and drains after the last packet has left.
    first, last = seen[0][1] + min(1.0, seconds / 3), seen[0][1] + seconds
    steady = [came for _, came in once.values() if first <= came <= last]
    delays = sorted((came - left) * 1000 for left, came in once.values() if left >= first)
    runs = [after - before - 1 for before, after in zip(sorted(once), sorted(once)[1:]) if after - before > 1]
    return {
        "kbit/s": (len(steady) - 1) * (PAYLOAD + 28) * 8 / (max(steady) - min(steady)) / 1000,
        "lost %": 100 * (1 - len(once) / sent),
        "lost together": statistics.mean(runs) if runs else 0.0,
        "delay p50": delays[len(delays) // 2], "delay p99": delays[int(len(delays) * 0.99)],
        "out of order %": 100 * late / len(once),
        "twice %": 100 * (len(seen) - len(once)) / len(once)}
