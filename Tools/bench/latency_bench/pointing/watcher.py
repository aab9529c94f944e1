"""The process that watches for dots; usage: watcher FOLDER R,G,B X,Y...

Looks as bench_kit.watcher does. At the end of standard input it prints one JSON object: `shown` has [index of the
place, seconds of CLOCK_MONOTONIC] of each time at which a place took the colour.
"""

import json
import sys

from bench_kit.framebuffer import Pixels
from bench_kit.watcher import watch


def numbers(word):
    return tuple(int(one) for one in word.split(","))


def main():
    folder, color, *words = sys.argv[1:]
    pixels, color = Pixels(folder, [numbers(word) for word in words]), numbers(color)
    were, shown = pixels.are(color), []

    def look(now):
        nonlocal were
        are = pixels.are(color)
        shown.extend([int(place), now] for place in (are & ~were).nonzero()[0])
        were = are

    gaps = watch(look)
    print(json.dumps({"shown": shown, **gaps}), flush=True)


if __name__ == "__main__":
    main()
