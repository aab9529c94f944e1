"""Runs the measurement and writes its report."""

import os
import shutil
import signal
import sys
import tempfile

from . import options as command_line
from .bench import Bench
from .memory import memory
from .processes import TROUBLE, Missing
from .programs import require_tools
from .reading import still, text
from .report import Report
from .tables import Table
from .timing import latency, rate, sharpness

OK, MISSED, MISSING, FAILED = 0, 1, 69, 70
PARTS = {"latency": latency, "rate": rate, "sharpness": sharpness, "text": text, "still": still, "memory": memory}


def main():
    options = command_line.parse(sys.argv[1:])
    # Whoever ends this ends all that it has started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    report = Report(options.out)
    if options.keep:
        folder = os.path.join(options.out, "streams")
        os.makedirs(folder, exist_ok=True)
    else:
        folder = tempfile.mkdtemp(prefix="capture-bench-")
    try:
        require_tools(options.peers if options.tables else [], "text" in options.parts)
        bench = Bench(options, report, folder)
        # What is missing is said before anything is measured.
        tables = [Table(bench, key) for key in options.tables]
        for table in tables:
            table.measure()
        for name, part in PARTS.items():
            if name in options.parts:
                measure_part(bench, name, part)
    except Missing as error:
        sys.stderr.write("Tools/bench/capture: %s\n" % error)
        return MISSING
    except KeyboardInterrupt:
        sys.stderr.write("Tools/bench/capture: interrupted; nothing is written\n")
        return FAILED
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(report.write(options))
    for failure in report.failures:
        print("failed: " + failure)
    if options.check:
        for check in report.missed:
            print("missed: %s: %s, %s" % (check.what, check.value, check.limit))
        print("%d of %d limits are kept" % (len(report.checks) - len(report.missed), len(report.checks)))
    if report.failures:
        return FAILED
    return MISSED if options.check and report.missed else OK


def measure_part(bench, name, part):
    try:
        part(bench)
    except TROUBLE as error:
        bench.say("%s failed: %s" % (name, error))
        bench.report.failures.append("%s: %s" % (name, error))


sys.exit(main())
