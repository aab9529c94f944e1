"""Measures the sound of a share: in sync, clean, cheap, and back after a kill."""

import sys

from bench_kit.bench import PROGRAMS, Bench
from bench_kit.devtools import chromium
from bench_kit.figures import medians
from bench_kit.limits import Check
from bench_kit.outcome import carry_out, conclude
from bench_kit.report import circumstances, limits, table, write_json, write_markdown

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
            runs = bench.run_all(label, lambda folder, _: scenario.measure(bench, folder, case), failures)
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


def section(name, cases):
    """The lines about one scenario."""
    scenario, rows = SCENARIOS[name], []
    for case, entry in cases.items():
        one = entry["medians"]
        rows += list(scenario.rows(case, one)) if hasattr(scenario, "rows") else [[case] + scenario.row(one)]
    return ["", "## " + scenario.TITLE, "", scenario.NOTE, "", *table(scenario.COLUMNS, rows)]


def write(options, document, found, failures):
    write_json(options, "sound", found, failures=failures, scenarios=document)
    lines = ["# The sound of a share, measured", "", circumstances(options) + "."]
    for failure in failures:
        lines += ["", "Failed: " + failure]
    for name, cases in document.items():
        lines += section(name, cases)
    write_markdown(options, "sound", lines + limits(found))


sys.exit(main())
