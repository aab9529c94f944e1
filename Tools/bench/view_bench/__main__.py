"""Measures `screenrelay view` beside Chromium."""

import sys

from capture_bench import outcome
from network_bench.bench import Bench
from network_bench.devtools import chromium
from network_bench.namespaces import obstacle
from network_bench.report import Summary

from . import limits, report, run, server
from .options import parse
from .phases import course

REFUSED = 77


def main():
    options = parse(sys.argv[1:])
    if options.server:
        return outcome.carry_out("view", lambda folder: play(options, folder))
    problem = obstacle()
    if problem:
        print("skipped: %s" % problem)
        return REFUSED
    return outcome.carry_out("view", lambda folder: measure(options, folder))


def play(options, folder):
    server.require()
    bench = Bench(options, folder)
    figures = bench.run_twice("view at %s" % options.server, lambda folder: server.measure(bench, folder))
    report.keep(options, {"options": vars(options), "server": figures})
    if figures:
        print("\n".join(server.lines(options.server, figures)))
    return outcome.conclude([] if figures else ["view at %s" % options.server], [], False)


def measure(options, folder):
    chromium()
    bench, plan, runs, failures = Bench(options, folder), course(options), [], []
    for number in range(options.runs):
        bench.say("run %d of %d" % (number + 1, options.runs))
        found = bench.run_twice("run %d" % (number + 1), lambda folder: run.measure(
            bench, plan, folder, options.seed + 1000 * number))
        if found:
            runs.append(found)
        else:
            failures.append("run %d" % (number + 1))
    checks = []
    if runs:
        summary = Summary(plan, runs)
        checks = limits.checks(summary)
        report.write(options, summary, checks, failures)
        print("\n".join(["", *report.lines(summary), "", report.NOTE % (options.round_trip / 2), "",
                         summary.host_line()]))
    return outcome.conclude(failures, checks, options.check)


sys.exit(main())
