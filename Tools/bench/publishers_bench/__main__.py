"""Measures what publishers over RTMP, SRT and RTSP cost a host, and the delay of each way."""

import argparse
import dataclasses
import json
import os
import shutil
import statistics
import sys

from capture_bench.options import Parser
from capture_bench.outcome import carry_out, conclude
from capture_bench.processes import Missing
from capture_bench.report import processor, table
from network_bench.bench import Bench

from . import delay, many

PARTS = {"many": many, "delay": delay}


@dataclasses.dataclass
class Options:
    parts: list
    seconds_many: float
    seconds: float
    runs: int
    host_core: int
    core: int
    out: str
    check: bool
    programs: str
    keep: bool


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/publishers",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures publishers over RTMP, SRT and RTSP: FFmpeg publishes to a host that has a processor of\n"
        "its own. Writes publishers.json.",
        epilog="parts:\n"
        "  many   ten publishers over RTMP, five over SRT and five over RTSP send 1280x720 at 30 fps and 2 Mbit/s:\n"
        "         the host's CPU time for each, the pictures that are missing, and the spread of their delays\n"
        "  delay  from when a picture is there for FFmpeg, which encodes it, until all of it is at an RTSP player,\n"
        "         with and without B-frames, next to FFmpeg alone; 640x360 at 30 fps\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("part", nargs="*", metavar="PART", help="many, delay, or both (both)")
    parser.add_argument("--seconds-many", type=float, default=60, metavar="S",
                        help="how long the publishers of many count (60)")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="how long each way counts in delay (20)")
    parser.add_argument("--runs", type=int, default=3, metavar="N",
                        help="runs of each part, of which medians are told (3)")
    parser.add_argument("--host-core", type=int, default=0, metavar="N", help="the host's processor (0)")
    parser.add_argument("--core", type=int, default=1, metavar="N", help="the processor of everything else (1)")
    parser.add_argument("--out", default="publishers-bench", metavar="DIR", help="where to write (publishers-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay is; without it, it is built")
    parser.add_argument("--keep", action="store_true", help="keep the programs' messages in DIR/records")
    given = parser.parse_args(arguments)
    for name in given.part:
        if name not in PARTS:
            parser.error("'%s' is none of %s" % (name, ", ".join(PARTS)))
    if not 1 <= given.seconds <= 600 or not 1 <= given.seconds_many <= 600:
        parser.error("--seconds and --seconds-many: from 1 to 600")
    if given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    if given.host_core == given.core:
        parser.error("--host-core %d and --core %d: two processors are needed" % (given.host_core, given.core))
    return Options(given.part or list(PARTS), given.seconds_many, given.seconds, given.runs, given.host_core,
                   given.core, given.out, given.check, given.programs, given.keep)


def tell_many(figures):
    def cells(one):
        if "taken" in one:
            return ["%.0f %%, %.0f %%" % (one["percent"], one["decoding_percent"]), "%.2f %%" % (100 * one["taken"]),
                    "", "", ""]
        return ["", "", "%d of %d" % (one["missing"], one["played"] + one["missing"]), "%.1f" % one["spread_p95"],
                "%.1f" % one["spread_max"]]

    # FFmpeg alone is no publisher, and costs the host nothing.
    rows = [[name, *(["%d" % one["publishers"], "%.2f" % one["cpu"]] if "cpu" in one else ["", ""]), *cells(one)]
            for name, one in figures.items()]
    return table(["over", "publishers", "host ms/s for each", "of a core: host, decode-tap", "pictures that arrived",
                  "missing at a player", "spread of the delay p95 ms", "largest ms"], rows)


def tell_delay(figures):
    keys = ["p50", "p95", "max", "added_p50", "added_p95"]
    rows = [[name, *["%.1f" % one[key] for key in keys], "%d" % one["missing"]] for name, one in figures.items()]
    return table(["over", "delay p50 ms", "p95 ms", "largest ms", "added p50 ms", "added p95 ms", "missing"], rows)


TELL = {"many": tell_many, "delay": tell_delay}


def medians(runs):
    return {name: {key: statistics.median(run[name][key] for run in runs) for key in one}
            for name, one in runs[0].items()}


def main():
    options = parse(sys.argv[1:])
    return carry_out("publishers", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    for program, package in (("taskset", "util-linux"), ("ffmpeg", "ffmpeg")):
        if not shutil.which(program):
            raise Missing("%s is missing; it is in the package %s" % (program, package))
    for core in (options.host_core, options.core):
        if core not in os.sched_getaffinity(0):
            raise Missing("processor %d can't be used" % core)
    bench, failures, found, document = Bench(options, folder, ["screenrelay"]), [], [], {}
    # The host chooses its processor itself.
    os.sched_setaffinity(0, {options.core})
    for name in options.parts:
        runs, failed = bench.run_all(name, PARTS[name].measure)
        failures += failed
        if not runs:
            continue
        middle = medians(runs)
        document[name] = {"medians": middle, "runs": runs}
        found += PARTS[name].checks(middle)
        print("\n".join(["## " + name, "", *TELL[name](middle), ""]), flush=True)
    print(processor() + ".")
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "publishers.json"), "w") as file:
        json.dump({"options": vars(options), "processor": processor(), "parts": document, "failures": failures,
                   "limits": [vars(one) for one in found]}, file, indent=1)
    return conclude(failures, found, options.check)


sys.exit(main())
