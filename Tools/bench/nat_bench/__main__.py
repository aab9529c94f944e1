"""Runs the courses and writes the report."""

import sys

from capture_bench.outcome import carry_out, conclude
from capture_bench.processes import Missing
from network_bench.bench import Bench
from network_bench.devtools import chromium
from network_bench.namespaces import TOOLS, namespace_obstacle

from . import coturn
from . import options as command_line
from .courses import ALL, checks
from .report import Report
from .run import SETTLING, measure

REFUSED = 77


def main():
    options = command_line.parse(sys.argv[1:])
    problem = namespace_obstacle(dict(TOOLS, nft="nftables"))
    if problem:
        for name in options.courses:
            print("skipped: %s: %s" % (name, problem))
        return REFUSED
    return carry_out("nat", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    chromium()
    problem = coturn.missing()
    if problem:
        raise Missing(problem)
    bench, report = Bench(options, folder), Report(SETTLING)
    for course in (ALL[name] for name in options.courses):
        runs = []
        for number in range(options.runs):
            bench.say("%s, run %d of %d" % (course.title, number + 1, options.runs))
            run = bench.run_twice(
                course.name, lambda folder: measure(bench, course, folder, checks_nats=number == 0))
            if run:
                runs.append(run)
            else:
                report.failures.append("%s, run %d" % (course.name, number + 1))
        if runs:
            report.add(course, runs, checks(course, runs))
            report.write(options)
    print("\n".join(report.table()))
    print("\n" + report.write(options))
    return conclude(report.failures, report.checks, options.check)


sys.exit(main())
