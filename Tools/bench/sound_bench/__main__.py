"""Measures the sound of a share: in sync, clean, cheap, and back after a kill."""

import json
import os
import platform
import statistics
import sys
import time

from capture_bench.limits import Check
from capture_bench.outcome import carry_out, conclude
from capture_bench.report import circumstances, limits, processor, table
from network_bench.bench import PROGRAMS, Bench
from network_bench.devtools import chromium

from .options import SCENARIOS, parse
from .pulse import require_pulse


def main():
    options = parse(sys.argv[1:])
    return carry_out("sound", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    chromium()
    require_pulse()
    bench, failures, found, document = Bench(options, folder, PROGRAMS + ["screenrelay-sound"]), [], [], {}
    for name in options.scenarios:
        scenario = SCENARIOS[name]
        for part, problem in scenario.left_out(options) if hasattr(scenario, "left_out") else ():
            print("skipped: %s, %s: %s" % (name, part, problem), flush=True)
            # What was asked for and is not known is not kept.
            found.append(Check("%s, %s" % (name, part), "skipped: " + problem, "measured", False))
        for case in scenario.cases(options):
            label = "%s, %s" % (name, case)
            problem = scenario.skipped(case) if hasattr(scenario, "skipped") else None
            if problem:
                print("skipped: %s: %s" % (label, problem), flush=True)
                continue
            runs = []
            for number in range(options.runs):
                bench.say("%s, run %d of %d" % (label, number + 1, options.runs))
                figures = bench.run_twice(label, lambda folder: scenario.measure(bench, folder, case))
                if figures:
                    runs.append(figures)
                else:
                    failures.append("%s, run %d" % (label, number + 1))
            if runs:
                middle = medians(runs)
                document.setdefault(name, {})[case] = {"medians": middle, "runs": runs}
                found += scenario.checks(case, middle)
        if name in document:
            print("\n".join(section(name, document[name])), flush=True)
            # What is measured stays where a later scenario fails.
            write(options, document, found, failures)
    write(options, document, found, failures)
    return conclude(failures, found, options.check)


def medians(runs):
    """The medians of all figures; those that no run has are None, and series are left out."""
    middle = {}
    for key in [key for key in runs[0] if not key.endswith("series")]:
        known = [run[key] for run in runs if run.get(key) is not None]
        middle[key] = statistics.median(known) if known else None
    return middle


def section(name, cases):
    """The lines about one scenario."""
    scenario, rows = SCENARIOS[name], []
    for case, entry in cases.items():
        one = entry["medians"]
        rows += list(scenario.rows(case, one)) if hasattr(scenario, "rows") else [[case] + scenario.row(one)]
    return ["", "## " + scenario.TITLE, "", scenario.NOTE, "", *table(scenario.COLUMNS, rows)]


def write(options, document, found, failures):
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "sound.json"), "w") as file:
        json.dump({"date": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "processors": os.cpu_count(),
                   "processor": processor(), "linux": platform.release(), "options": vars(options),
                   "failures": failures, "scenarios": document, "limits": [vars(one) for one in found]}, file, indent=1)
    lines = ["# The sound of a share, measured", "", circumstances(options) + "."]
    for failure in failures:
        lines += ["", "Failed: " + failure]
    for name, cases in document.items():
        lines += section(name, cases)
    with open(os.path.join(options.out, "sound.md"), "w") as file:
        file.write("\n".join(lines + limits(found)) + "\n")


sys.exit(main())
