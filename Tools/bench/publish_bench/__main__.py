"""Measures how soon a share publishes again to a WebRTC server that was killed."""

import argparse
import dataclasses
import json
import os
import statistics
import sys

from capture_bench.options import SIZES, Parser
from capture_bench.outcome import carry_out, conclude
from capture_bench.report import circumstances, table
from network_bench.bench import Bench

from . import course
from .servers import COURSES

REFUSED = 77


@dataclasses.dataclass
class Options:
    courses: list
    runs: int
    size: tuple
    bit_rate: int
    out: str
    check: bool
    programs: str
    keep: bool
    share: list = dataclasses.field(default_factory=list)


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/publish",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Publishes a scrolled text to a WebRTC server, kills the server with SIGKILL, and starts it again\n"
        "after %s s. Tells how long it takes until somebody at the server has decoded a picture again, from\n"
        "the kill and from when the server took connections again. Beside it, the share pushes to URLs with a\n"
        "wrong secret, and must say once that each is refused. Writes publish.json."
        % ", ".join("%g" % away for away in course.AWAY),
        epilog="courses:\n"
        "  janus  a room of the real Janus' VideoRoom plugin, with a PIN and with signed tokens; aiortc is its\n"
        "         subscriber. Tools/setup --bench unpacks Janus\n"
        "  whip   the WHIP server of the tests, in Python with aiortc, which decodes what it gets\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice; 77 a course was skipped, as its server isn't there.")
    parser.add_argument("course", nargs="*", metavar="COURSE", help="janus, whip, or both (both)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each (3)")
    parser.add_argument("--size", choices=["1280x720"] + sorted(SIZES), default="1280x720",
                        help="of the screen (1280x720)")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--out", default="publish-bench", metavar="DIR", help="where to write (publish-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    parser.add_argument("--keep", action="store_true", help="keep the programs' messages in DIR/records")
    given = parser.parse_args(arguments)
    for name in given.course:
        if name not in COURSES:
            parser.error("'%s' is none of %s" % (name, ", ".join(COURSES)))
    if given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    return Options(given.course or list(COURSES), given.runs, tuple(int(side) for side in given.size.split("x")),
                   given.bitrate, given.out, given.check, given.programs, given.keep)


def tell(runs):
    def figures(index, key):
        values = [run["outages"][index][key] for run in runs]
        return "%.1f, %.1f" % (statistics.median(values), max(values))

    rows = [["%g" % away, figures(index, "from_kill"), figures(index, "from_ready")]
            for index, away in enumerate(course.AWAY)]
    lines = table(
        ["away s", "picture after the kill s: median, longest", "after it was ready s: median, longest"], rows)
    for one in runs[0]["refused"]:
        lines += ["", "With %s, said %d times in the first run: %s" % (
            one["what"], len(one["said"]), one["said"][0] if one["said"] else one["reason"])]
    return lines


def main():
    options = parse(sys.argv[1:])
    courses = []
    for name in options.courses:
        problem = COURSES[name].missing()
        if problem:
            print("skipped: %s: %s" % (name, problem))
        else:
            courses.append(name)
    is_skipped = len(courses) < len(options.courses)
    code = carry_out("publish", lambda folder: measure_all(options, courses, folder)) if courses else 0
    return code or (REFUSED if is_skipped else 0)


def measure_all(options, courses, folder):
    bench, failures, found, document = Bench(options, folder), [], [], {}
    for name in courses:
        runs = []
        for number in range(options.runs):
            bench.say("%s, run %d of %d" % (name, number + 1, options.runs))
            run = bench.run_twice(name, lambda folder: course.measure(bench, COURSES[name], folder))
            if run:
                runs.append(run)
            else:
                failures.append("%s, run %d" % (name, number + 1))
        if not runs:
            continue
        document[name] = runs
        found += course.checks(name, runs)
        lines = ["## " + COURSES[name].title, "", circumstances(options) + ".", "", *tell(runs), ""]
        print("\n".join(lines), flush=True)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "publish.json"), "w") as file:
        json.dump({"options": vars(options), "courses": document, "failures": failures,
                   "limits": [vars(one) for one in found]}, file, indent=1)
    return conclude(failures, found, options.check)


sys.exit(main())
