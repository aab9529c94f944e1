"""Runs the measurement and writes its report."""

import os
import sys

from bench_kit.outcome import carry_out, conclude
from bench_kit.processes import TROUBLE
from bench_kit.report import Report

from . import options as command_line
from .bench import Bench
from .casts import require_casts
from .cost import cost
from .memory import memory
from .paint import paint
from .programs import require_tools
from .replay import replay
from .rest import picture
from .tables import Table
from .timing import latency, rate, sharpness

PARTS = {"latency": latency, "rate": rate, "sharpness": sharpness, "memory": memory, "replay": replay, "cost": cost,
         "picture": picture, "paint": paint}


def main():
    options = command_line.parse(sys.argv[1:])
    kept = os.path.join(options.out, "streams") if options.keep else None
    return carry_out("capture", lambda folder: measure(options, folder), kept)


def measure(options, folder):
    is_wayland = options.display == "wayland"
    report = Report(options.out, "wayland" if is_wayland else "capture")
    if is_wayland:
        require_casts()
    require_tools(options.peers if options.tables else [])
    bench = Bench(options, report, folder)
    # What is missing is said before anything is measured.
    tables = [Table(bench, key) for key in options.tables]
    for table in tables:
        table.measure()
    for name, part in PARTS.items():
        if name in options.parts:
            measure_part(bench, name, part)
    print(report.write(options))
    return conclude(report.failures, report.checks, options.check)


def measure_part(bench, name, part):
    try:
        part(bench)
    except TROUBLE as error:
        bench.say("%s failed: %s" % (name, error))
        bench.report.failures.append("%s: %s" % (name, error))


sys.exit(main())
