"""Builds both, measures both in turn, and prints the ratios."""

import os
import statistics
import sys
import time

from bench_kit import options as of
from bench_kit.outcome import carry_out, conclude, say
from bench_kit.processes import TROUBLE, require_programs
from bench_kit.report import table
from bench_kit.room import busy_share, busy_time

from .builds import prepare
from .figures import FIGURES


def parse(arguments):
    return of.Parser(
        "gate", """
        Compares five key figures of this tree with those of an earlier commit, in about five minutes after both are
        built. The builds take turns, each first in every other round, so that a busy machine slows both. A ratio above
        1 means that this tree is slower.""", [
            of.Option("base", "what to compare with", "COMMIT", "HEAD~1", nargs="?"),
            of.names("--figures", list(FIGURES), "which"),
            of.number("--rounds", 3, 1, 100, "N", "measurements of each build")],
        notes="figures:\n"
        + "".join("  %-8s %s: %s\n" % (name, one.title, one.unit) for name, one in FIGURES.items())
        + "\nBoth builds stay in .build/gate, so that the next comparison compiles only what has changed.",
        codes={0: "measured, whatever the ratios are", 1: None}).parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    return carry_out("gate", lambda folder: compare(options, folder))


def tell(text):
    say("gate", text)


def compare(options, folder):
    require_programs({"Xvfb": "xvfb", "ffmpeg": "ffmpeg", "taskset": "util-linux"}, "Tools/setup")
    builds = prepare(options.base, tell)
    began, before, failures = time.monotonic(), busy_time(), []
    # Of each figure, a pair for each round: before, now.
    pairs = {name: [] for name in options.figures}
    for number in range(options.rounds):
        for name in options.figures:
            pair = measure_pair(name, builds, number, folder)
            if pair:
                pairs[name].append(pair)
            else:
                failures.append("%s, round %d" % (name, number + 1))
    busy = busy_share(before)
    print("\n".join(table(["figure", "unit", "before", "now", "ratio", "of the rounds"],
                          [row(name, some) for name, some in pairs.items() if some])))
    print("\nBefore: %s. The ratio is the median of %d rounds'. Measured in %.0f s on a machine that was %.0f %% busy."
          % (options.base, options.rounds, time.monotonic() - began, 100 * busy))
    return conclude(failures, [], False)


def measure_pair(name, builds, number, folder):
    """The figure of both builds, in the order of `builds`; None if one can't be measured."""
    found = {}
    for build in builds if number % 2 == 0 else reversed(builds):
        for attempt in (1, 2):
            own = os.path.join(folder, "%s%d%s%d" % (name, number, build.name[0], attempt))
            os.makedirs(own)
            try:
                found[build.name] = FIGURES[name].measure(build, own)
                break
            except TROUBLE as error:
                tell("%s of %s failed%s: %s" % (name, build.name, "" if attempt == 1 else " again", error))
        else:
            return None
    tell("%s, round %d: %s" % (name, number + 1, ", ".join("%s %.2f" % (build.name, found[build.name])
                                                            for build in builds)))
    return [found[build.name] for build in builds]


def row(name, pairs):
    ratios = [now / before for before, now in pairs]
    before, now = (statistics.median(values) for values in zip(*pairs))
    return [FIGURES[name].title, FIGURES[name].unit, "%.2f" % before, "%.2f" % now, "%.2f" % statistics.median(ratios),
            "%.2f to %.2f" % (min(ratios), max(ratios))]


sys.exit(main())
