"""Measures the delay of a viewer's dots on the sharer's screen, and what pointing costs the capture."""

import statistics
import sys

from capture_bench import outcome
from network_bench.bench import Bench
from network_bench.devtools import chromium
from publishers_bench.medians import medians

from . import cost, delay, limits, report
from .options import parse

PARTS = {"delay": delay.measure, "cost": cost.measure}


def main():
    options = parse(sys.argv[1:])
    return outcome.carry_out("pointing", lambda folder: measure(options, folder))


def measure(options, folder):
    chromium()
    bench, runs, failures = Bench(options, folder), {}, []
    for number in range(options.runs):
        for part in options.parts:
            for name in options.scenes:
                title = "%s, %s, run %d" % (part, name, number + 1)
                bench.say(title)
                found = bench.run_twice(title, lambda folder: PARTS[part](
                    bench, bench.scene(name), folder, options.seed + number))
                if found:
                    runs.setdefault((part, name), []).append(found)
                else:
                    failures.append(title)
    busy = [one["busy"]["share"] for some in runs.values() for one in some]
    # How busy the machine was is told once, for all.
    measured = {key: {name: figures for name, figures in medians(some).items() if name != "busy"}
                for key, some in runs.items()}
    checks = [one for (part, name), figures in measured.items() for one in limits.checks(part, name, figures)]
    report.write(options, measured, runs, checks, failures)
    if measured:
        print("\n".join(report.lines(measured)))
        print("This machine was %.0f %% busy.\n" % (100 * statistics.median(busy)))
    return outcome.conclude(failures, checks, options.check)


sys.exit(main())
