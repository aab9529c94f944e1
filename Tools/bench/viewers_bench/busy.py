"""A busy program: takes 5 ms of each 10 ms of a processor. Run as `python3 -m viewers_bench.busy CORE SECONDS`; prints
the share that it got, in percent."""

import os
import sys
import time

PERIOD = 0.01


def run(core, seconds):
    os.sched_setaffinity(0, {core})
    begin, used = time.monotonic(), time.thread_time()
    due = begin
    while time.monotonic() < begin + seconds:
        enough = time.thread_time() + PERIOD / 2
        while time.thread_time() < enough:
            pass
        # What it didn't get in one period, it doesn't take in the next one.
        due = max(due + PERIOD, time.monotonic())
        time.sleep(max(0, due - time.monotonic()))
    print("%.1f" % (100 * (time.thread_time() - used) / (time.monotonic() - begin)))


if __name__ == "__main__":
    run(int(sys.argv[1]), float(sys.argv[2]))
