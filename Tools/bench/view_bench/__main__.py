"""Measures `screenrelay view` beside Chromium."""

import sys

from capture_bench import outcome
from capture_bench.processes import Missing
from network_bench.bench import Bench
from network_bench.devtools import chromium
from network_bench.namespaces import obstacle
from network_bench.report import Summary

from . import limits, report, run
from .options import HOST, parse
from .phases import at_server, course
from .servers import SERVERS

REFUSED = 77


def main():
    options = parse(sys.argv[1:])
    problem = obstacle() if options.server == HOST else None
    if problem:
        print("skipped: %s" % problem)
        return REFUSED
    return outcome.carry_out("view", lambda folder: measure(options, folder))


def measure(options, folder):
    chromium()
    bench, failures = Bench(options, folder), []
    if options.server == HOST:
        plan = course(options)
        runs = repeat(bench, failures, lambda folder, number: run.measure(
            bench, plan, folder, options.seed + 1000 * number))
    else:
        server = SERVERS[options.server]
        problem = server.missing()
        if problem:
            raise Missing(problem)
        plan = at_server(options, server.title)
        runs = repeat(bench, failures, lambda folder, number: run.measure_at(bench, plan, folder, server))
    checks = []
    if runs:
        summary = Summary(plan, runs)
        checks = limits.checks(summary)
        report.write(options, summary, checks, failures)
        print("\n".join(["", *report.lines(summary), "", *report.notes(options, summary)]))
    return outcome.conclude(failures, checks, options.check)


def repeat(bench, failures, measure_once):
    """What `measure_once(folder, number)` gives of each run; `failures` gets the names of those that failed twice."""
    runs = []
    for number in range(bench.options.runs):
        name = "run %d" % (number + 1)
        bench.say("%s of %d" % (name, bench.options.runs))
        found = bench.run_twice(name, lambda folder: measure_once(folder, number))
        if found:
            runs.append(found)
        else:
            failures.append(name)
    return runs


sys.exit(main())
