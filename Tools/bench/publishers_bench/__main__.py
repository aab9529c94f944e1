"""Measures what publishers over RTMP, SRT and RTSP cost a host, the delay of each way, and OBS as a publisher."""

import argparse
import dataclasses
import json
import os
import shutil
import sys

from capture_bench.options import Parser
from capture_bench.outcome import carry_out, conclude
from capture_bench.processes import Missing
from capture_bench.report import processor, table
from network_bench.bench import Bench

from . import delay, many, obs
from .medians import medians
from .obs_report import tell_obs

PARTS = {"many": many, "delay": delay, "obs": obs}


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
        "its own, and OBS to one that shares all processors. Writes publishers.json after each run.",
        epilog="parts:\n"
        "  many   ten publishers over RTMP, five over SRT and five over RTSP send 1280x720 at 30 fps and 2 Mbit/s:\n"
        "         the host's CPU time for each, the pictures that are missing, and the spread of their delays\n"
        "  delay  from when a picture is there for FFmpeg, which encodes it, until all of it is at an RTSP player,\n"
        "         with and without B-frames, next to FFmpeg alone; 640x360 at 30 fps\n"
        "  obs    OBS without a person, which shows a scrolled text on an X display and plays a tone, over RTMP, SRT\n"
        "         and RTMPS, next to FFmpeg: the delay, what Chromium shows and plays, the time until the picture\n"
        "         moves again after OBS was killed, and what OBS says of a wrong stream key; 1280x720 at 30 fps\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("part", nargs="*", metavar="PART", help="many, delay or obs; several may be named (all)")
    parser.add_argument("--seconds-many", type=float, default=60, metavar="S",
                        help="how long the publishers of many count (60)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S",
                        help="how long each way counts in delay and obs (10)")
    parser.add_argument("--runs", type=int, default=3, metavar="N",
                        help="runs of each part, of which medians are told (3)")
    parser.add_argument("--host-core", type=int, default=0, metavar="N", help="the host's processor, except in obs (0)")
    parser.add_argument("--core", type=int, default=1, metavar="N",
                        help="the processor of everything else, except in obs (1)")
    parser.add_argument("--out", default="publishers-bench", metavar="DIR", help="where to write (publishers-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay is, and for obs screenrelay-scene; without it, they are built")
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


#: The rows of both tables, which Documentation/measurements.md has too.
ROWS = {"rtmp": "RTMP", "srt": "SRT", "rtsp": "RTSP", "all": "all", "ffmpeg": "FFmpeg alone"}


def tell_many(figures):
    def cells(one):
        # FFmpeg alone is no publisher, and costs the host nothing.
        used = ["%d" % one["publishers"], "%.1f ms" % one["cpu"]] if "cpu" in one else ["", ""]
        if "taken" in one:
            return [*used, "%.0f %%, %.0f %%" % (one["percent"], one["decoding_percent"]),
                    "%.2f %%" % (100 * one["taken"]), "", ""]
        return [*used, "", "", "%d of %d" % (one["missing"], one["played"] + one["missing"]),
                "%.1f, %.1f ms" % (one["spread_p95"], one["spread_max"])]

    return table(["over", "publishers", "host: CPU time per second for each", "of a core: host, decode-tap",
                  "pictures that arrived", "missing at a player", "spread of the delay: p95, largest"],
                 [[ROWS[name], *cells(one)] for name, one in figures.items()])


def tell_delay(figures):
    def cells(way):
        found, missing = [], []
        for has_b_frames in (False, True):
            one = figures.get(delay.title(way, has_b_frames))
            found += ["%.1f, %.1f ms" % (one["p50"], one["p95"]) if one else "failed",
                      "%.1f, %.1f ms" % (one["added_p50"], one["added_p95"]) if one and way != delay.ALONE else ""]
            missing.append("%d" % one["missing"] if one else "")
        return [*found, ", ".join(missing)]

    return table(["over", "without B-frames: p50, p95", "added: p50, p95", "with B-frames, re-encoded: p50, p95",
                  "added: p50, p95", "missing: without, with B-frames"],
                 [[ROWS[way], *cells(way)] for way in delay.WAYS])


TELL = {"many": tell_many, "delay": tell_delay, "obs": tell_obs}


def main():
    options = parse(sys.argv[1:])
    return carry_out("publishers", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    for program, package in (("taskset", "util-linux"), ("ffmpeg", "ffmpeg")):
        if not shutil.which(program):
            raise Missing("%s is missing; it is in the package %s" % (program, package))
    if "obs" in options.parts:
        obs.require()
    for core in (options.host_core, options.core):
        if core not in os.sched_getaffinity(0):
            raise Missing("processor %d can't be used" % core)
    programs = ["screenrelay", "screenrelay-scene"] if "obs" in options.parts else ["screenrelay"]
    bench, failures, runs = Bench(options, folder, programs), [], {name: [] for name in options.parts}
    cores = os.sched_getaffinity(0)
    for number in range(options.runs):
        for name in options.parts:
            title = "%s, run %d of %d" % (name, number + 1, options.runs)
            bench.say(title)
            # The host chooses its processor itself. OBS, without a GPU, needs more than one.
            os.sched_setaffinity(0, cores if name == "obs" else {options.core})
            figures = bench.run_twice(title, lambda folder: PARTS[name].measure(bench, folder))
            if figures:
                failures += ["%s: %s" % (title, one) for one, found in figures.items() if not found]
                runs[name].append(figures)
            else:
                failures.append(title)
            # Keeps the results if the benchmark is stopped before its last run.
            write(options, runs, failures)
    found = []
    for name, there in runs.items():
        if there:
            middle = medians(there)
            found += PARTS[name].checks(middle)
            print("\n".join(["## " + name, "", *TELL[name](middle), ""]), flush=True)
    print(processor() + ".")
    return conclude(failures, found, options.check)


def write(options, runs, failures):
    parts = {name: {"medians": medians(there), "runs": there} for name, there in runs.items() if there}
    found = [vars(one) for name, part in parts.items() for one in PARTS[name].checks(part["medians"])]
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "publishers.json"), "w") as file:
        json.dump({"options": vars(options), "processor": processor(), "parts": parts, "failures": failures,
                   "limits": found}, file, indent=1)


sys.exit(main())
