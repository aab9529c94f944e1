"""The process that watches counters: usage: watcher FOLDER [FOLDER X Y SCALE]...

The first folder is that of the shared screen; an empty word stands for one that can't be watched.
Every half millisecond it looks whether a counter has changed. A value counts when it is seen twice, from the first
time: once may be half of a change. At the end of standard input it prints one JSON object: `drawn` is the list of
[value, seconds of CLOCK_MONOTONIC] of the shared screen, `shown` has such a list for each further one, and the rest is
the longest time between two looks.
"""

import gc
import json
import os
import select
import sys
import time

from .framebuffer import Framebuffer

EVERY = 0.0005


def main():
    watched, words = [Framebuffer(sys.argv[1])] if sys.argv[1] else [], sys.argv[2:]
    ours = len(watched)
    for first in range(0, len(words), 4):
        watched.append(Framebuffer(words[first], *(float(word) for word in words[first + 1:first + 4])))
    seen, last, candidate = [[] for _ in watched], [None] * len(watched), [(None, 0.0)] * len(watched)

    def look(now):
        for place, framebuffer in enumerate(watched):
            value = framebuffer.counter()
            if value is None or value == last[place]:
                continue
            if value != candidate[place][0]:
                candidate[place] = (value, now)
                continue
            last[place] = value
            seen[place].append(candidate[place])

    gaps = watch(look)
    print(json.dumps({"drawn": seen[0] if ours else [], "shown": seen[ours:], **gaps}), flush=True)


def watch(look):
    """Calls `look(now)`, with seconds of CLOCK_MONOTONIC, every half millisecond until the end of standard input.

    Prints "ready" before it begins. Gives the time between two looks: the 99th percentile, and the longest.
    """
    try:
        # Looking late would be measured as delay.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        pass
    gc.disable()
    print("ready", flush=True)
    gaps, before = [], time.monotonic()
    while not select.select([0], [], [], EVERY)[0]:
        now = time.monotonic()
        gaps.append(now - before)
        before = now
        look(now)
    gaps.sort()
    return {"gap_p99_ms": gaps[int(len(gaps) * 0.99)] * 1000, "gap_max_ms": gaps[-1] * 1000}


if __name__ == "__main__":
    main()
