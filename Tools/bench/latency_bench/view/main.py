"""Measures `screenrelay view` beside Chromium."""

from bench_kit import outcome
from bench_kit.bench import Bench
from bench_kit.devtools import chromium
from bench_kit.namespaces import obstacle
from bench_kit.processes import Missing
from bench_kit.report import write_json
from network_bench.report import Summary

from . import limits, report, run
from .options import HOST, parse
from .phases import at_server, course
from .servers import SERVERS



def main(arguments):
    options = parse(arguments)
    problem = obstacle() if options.server == HOST else None
    if problem:
        return outcome.skip(["view"], problem)
    return outcome.carry_out("view", lambda folder: measure(options, folder))


def measure(options, folder):
    chromium()
    bench, failures = Bench(options, folder), []
    if options.server == HOST:
        plan = course(options)
        runs = bench.run_all("view", lambda folder, number: run.measure(
            bench, plan, folder, options.seed + 1000 * number), failures)
    else:
        server = SERVERS[options.server]
        problem = server.missing()
        if problem:
            raise Missing(problem)
        plan = at_server(options, server.title)
        runs = bench.run_all("view", lambda folder, _: run.measure_at(bench, plan, folder, server), failures)
    checks = []
    if runs:
        summary = Summary(plan, runs)
        checks = limits.checks(summary)
        write_json(options, "view", checks, failures=failures, runs=runs, medians=[
            dict(figures, viewer=kind, phase=phase) for kind, phase, figures in summary.rows()])
        print("\n".join(["", *report.lines(summary), "", *report.notes(options, summary)]))
    return outcome.conclude(failures, checks, options.check)
