"""Measures the delay of a viewer's dots on the sharer's screen, and what pointing costs the capture."""

import statistics

from bench_kit import outcome
from bench_kit.bench import Bench
from bench_kit.devtools import chromium
from bench_kit.figures import medians
from bench_kit.report import write_json

from . import cost, delay, limits, report
from .options import parse

PARTS = {"delay": delay.measure, "cost": cost.measure}


def main(arguments):
    options = parse(arguments)
    return outcome.carry_out("pointing", lambda folder: measure(options, folder))


def measure(options, folder):
    chromium()
    bench, runs, failures = Bench(options, folder), {}, []
    for number in range(options.runs):
        for part in options.parts:
            for name in options.scenes:
                runs.setdefault((part, name), []).extend(bench.run_once(
                    "%s, %s" % (part, name), lambda folder, number: PARTS[part](
                        bench, bench.scene(name), folder, options.seed + number), failures, number))
    runs = {key: some for key, some in runs.items() if some}
    busy = [one["busy"]["share"] for some in runs.values() for one in some]
    # How busy the machine was is told once, for all.
    measured = {key: {name: figures for name, figures in medians(some).items() if name != "busy"}
                for key, some in runs.items()}
    checks = [one for (part, name), figures in measured.items() for one in limits.checks(part, name, figures)]
    write_json(options, "pointing", checks, failures=failures, runs=[
        {"part": part, "scene": scene, "medians": figures, "runs": runs[part, scene]}
        for (part, scene), figures in measured.items()])
    if measured:
        print("\n".join(report.lines(measured)))
        print("This machine was %.0f %% busy.\n" % (100 * statistics.median(busy)))
    return outcome.conclude(failures, checks, options.check)
