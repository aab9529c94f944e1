"""Runs the courses and writes the report."""

import statistics
import sys

from bench_kit import outcome
from bench_kit.bench import Bench
from bench_kit.devtools import chromium
from bench_kit.namespaces import namespace_obstacle, obstacle
from bench_kit.outcome import OK
from bench_kit.processes import Missing
from network_bench import motion

from . import coturn, courses, nats, options as command_line, proxies
from .firefox import firefox
from .report import Report

#: Seconds that a run takes besides its phases: starting everything, and waiting for the first picture.
AROUND = 15


def main():
    options = command_line.parse(sys.argv[1:])
    planned = [course for name in options.courses for course in courses.ALL[name][1](options)]
    if options.list:
        return list_courses(options, planned)
    problem = obstacle() or namespace_obstacle({"nft": "nftables"})
    if problem:
        return outcome.skip([course.title for course in planned], problem)
    return outcome.carry_out("reach", lambda folder: measure(options, planned, folder))


def list_courses(options, planned):
    total = 0
    for course in planned:
        seconds = options.runs * (course.seconds + options.lead + AROUND)
        total += seconds
        print("%-50s %5.0f s" % (course.title, seconds))
    print("%d courses, %d runs each, about %.0f minutes" % (len(planned), options.runs, total / 60))
    return OK


def is_nat(course):
    return isinstance(course, nats.Course)


def require(planned):
    """Ends with a Missing where a program isn't there."""
    ways = [course.facts["way"] for course in planned if not is_nat(course)]
    if len(ways) < len(planned) and coturn.missing():
        raise Missing(coturn.missing())
    for browser, find in (("chromium", chromium), ("firefox", firefox)):
        if any(way.browser == browser for way in ways) or browser == "chromium" and len(ways) < len(planned):
            find()
    for name in {way.proxy for way in ways if way.proxy}:
        if proxies.ALL[name].missing():
            raise Missing(proxies.ALL[name].missing())


def measure(options, planned, folder):
    require(planned)
    bench, report = Bench(options, folder), Report()
    busy = []
    for course in planned:
        runs = bench.run_all(course.title, lambda folder, number: nats.measure(
            bench, course, folder, checks_nats=number == 0) if is_nat(course) else motion.measure(
            bench, course, folder, options.seed + 1000 * number, courses.ReachStage), report.failures)
        if runs:
            report.add(course, runs)
            busy += [run["busy"] for run in runs if "busy" in run]
            report.write(options)
    print("\n".join(report.tables()))
    if busy:
        print("\nThis machine was %.0f %% busy." % (100 * statistics.median(busy)))
    print("\n" + report.write(options))
    return outcome.conclude(report.failures, report.checks(), options.check)


sys.exit(main())
