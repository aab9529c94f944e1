"""Runs the scenarios and writes the report."""

import sys

from bench_kit import outcome
from bench_kit.bench import Bench
from bench_kit.devtools import chromium
from bench_kit.namespaces import obstacle
from bench_kit.outcome import FAILED, MISSED, OK
from bench_kit.processes import TROUBLE

from . import first, limits, motion, options as command_line, repaint
from .check_path import check_path
from .report import Report, Summary
from .scenarios import ALL

KINDS = {"motion": motion.measure, "repaint": repaint.measure, "first": first.measure}
#: Seconds that a run takes besides its phases: starting everything, and comparing pictures.
AROUND = 20


def main():
    options = command_line.parse(sys.argv[1:])
    courses = [course for name in options.scenarios for course in ALL[name].courses(options)]
    if options.list:
        return list_courses(options, courses)
    problem = obstacle()
    if problem:
        return outcome.skip(["the paths themselves"] if options.check_path else options.scenarios, problem)
    return outcome.carry_out(
        "network",
        lambda folder: measure_path(options) if options.check_path else measure(options, courses, folder))


def say(text):
    outcome.say("network", text)


def list_courses(options, courses):
    total = 0
    for course in courses:
        opens = course.facts.get("opens", 0) * 3
        seconds = options.runs * (course.seconds + options.lead + AROUND + opens)
        total += seconds
        print("%-14s %-50s %5.0f s" % (course.scenario, course.title, seconds))
    print("%d courses, %d runs each, about %.0f minutes" % (len(courses), options.runs, total / 60))
    return OK


def measure_path(options):
    try:
        lines, faults = check_path(options.seconds or 8, options.seed, say)
    except TROUBLE as error:
        say("%s" % error)
        return FAILED
    print("\n".join(lines))
    for fault in faults:
        print("not as asked: " + fault)
    return MISSED if faults else OK


def measure(options, courses, folder):
    chromium()
    bench, report = Bench(options, folder), Report()
    for course in courses:
        runs = bench.run_all(course.title, lambda folder, number: KINDS[course.kind](
            bench, course, folder, options.seed + 1000 * number), report.failures)
        if runs:
            summary = Summary(course, runs)
            report.summaries.append(summary)
            report.checks += limits.checks(summary)
            print("\n".join(["", course.title, ""] + summary.table() + ["", summary.host_line()]), flush=True)
            report.write(options)
    print("\n" + report.write(options))
    return outcome.conclude(report.failures, report.checks, options.check)


sys.exit(main())
