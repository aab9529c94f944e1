"""Runs the courses and writes the report."""

import statistics
import sys

from capture_bench import outcome
from capture_bench.outcome import OK
from capture_bench.processes import Missing
from network_bench import motion
from network_bench.bench import Bench
from network_bench.devtools import chromium
from network_bench.namespaces import obstacle

from . import courses, limits, proxies
from . import options as command_line
from .firefox import firefox
from .report import Report

REFUSED = 77
#: Seconds that a run takes besides its phases: starting everything, and waiting for the first picture.
AROUND = 15


def main():
    options = command_line.parse(sys.argv[1:])
    planned = [course for name in options.courses for course in courses.ALL[name][1](options)]
    if options.list:
        return list_courses(options, planned)
    problem = obstacle()
    if problem:
        for course in planned:
            print("skipped: %s: %s" % (course.title, problem))
        return REFUSED
    return outcome.carry_out("reach", lambda folder: measure(options, planned, folder))


def list_courses(options, planned):
    total = 0
    for course in planned:
        seconds = options.runs * (course.seconds + options.lead + AROUND)
        total += seconds
        print("%-50s %5.0f s" % (course.title, seconds))
    print("%d courses, %d runs each, about %.0f minutes" % (len(planned), options.runs, total / 60))
    return OK


def require(planned):
    """Ends with a Missing where a program isn't there."""
    ways = [course.facts["way"] for course in planned]
    for browser, find in (("chromium", chromium), ("firefox", firefox)):
        if any(way.browser == browser for way in ways):
            find()
    for name in {way.proxy for way in ways if way.proxy}:
        if proxies.ALL[name].missing():
            raise Missing(proxies.ALL[name].missing())


def measure(options, planned, folder):
    require(planned)
    bench, report = Bench(options, folder), Report(options.out)
    checks, busy = [], []
    for course in planned:
        runs = []
        for number in range(options.runs):
            bench.say("%s, run %d of %d" % (course.title, number + 1, options.runs))
            run = bench.run_twice(course.title, lambda folder: motion.measure(
                bench, course, folder, options.seed + 1000 * number, courses.ReachStage))
            if run:
                runs.append(run)
            else:
                report.failures.append("%s, run %d" % (course.title, number + 1))
        if runs:
            report.add(course, runs)
            busy += [run["busy"] for run in runs]
            checks = [check for row in report.rows for check in limits.checks(row)]
            report.write(options, checks)
    print("\n".join(report.tables()))
    if busy:
        print("\nThis machine was %.0f %% busy." % (100 * statistics.median(busy)))
    print("\n" + report.write(options, checks))
    return outcome.conclude(report.failures, checks, options.check)


sys.exit(main())
