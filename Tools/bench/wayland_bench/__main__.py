"""Runs the measurement and writes its report."""

import sys

from capture_bench.outcome import carry_out, conclude
from capture_bench.report import Report
from network_bench.bench import Bench

from . import options as command_line
from .cost import cost
from .paint import paint
from .picture import picture
from .programs import require_tools

PARTS = {"cost": cost, "picture": picture, "paint": paint}


def main():
    options = command_line.parse(sys.argv[1:])
    return carry_out("wayland", lambda folder: measure(options, folder))


def measure(options, folder):
    require_tools()
    bench = Bench(options, folder, ["screenrelay-capture", "screenrelay-scene"])
    report = Report(options.out, "wayland")
    for part in options.parts:
        PARTS[part](bench, report)
    print(report.write(options))
    return conclude(report.failures, report.checks, options.check)


sys.exit(main())
