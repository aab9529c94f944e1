"""Measures what outputs cost, what they do on a narrow path, and how soon they are back after a server was killed."""

import sys

from bench_kit.bench import Bench
from bench_kit.outcome import carry_out, conclude, skip
from bench_kit.report import circumstances, write_json

from .options import PARTS, parse


def main():
    options = parse(sys.argv[1:])
    problems = {name: problem for name in options.parts if (problem := PARTS[name].missing())}
    skipped = [skip([name], problem) for name, problem in problems.items()]
    options.parts = [name for name in options.parts if name not in problems]
    code = carry_out("outputs", lambda folder: measure_all(options, folder)) if options.parts else 0
    return code or max(skipped, default=0)


def measure_all(options, folder):
    bench, failures, found, document = Bench(options, folder), [], [], {}
    size = options.size
    for name in options.parts:
        part = PARTS[name]
        options.size = size or part.SIZE
        runs = bench.run_all(name, lambda folder, _: part.measure(bench, folder), failures)
        if not runs:
            continue
        document[name] = runs
        found += part.checks(runs)
        print("\n".join(["## " + name, "", circumstances(options) + ".", "", *part.tell(runs), ""]), flush=True)
    write_json(options, "outputs", found, parts=document, failures=failures)
    return conclude(failures, found, options.check)


sys.exit(main())
