"""Measures what outputs cost, and what they do on a narrow path."""

import argparse
import dataclasses
import json
import os
import statistics
import sys

from capture_bench.outcome import carry_out, conclude
from capture_bench.options import SCENES, SIZES, Parser
from capture_bench.processes import Missing
from capture_bench.report import circumstances, table
from network_bench.bench import Bench
from network_bench.namespaces import obstacle

from . import narrow, server, ten

PARTS = {"ten": ten, "narrow": narrow}


@dataclasses.dataclass
class Options:
    parts: list
    scene: str
    seconds: float
    runs: int
    size: tuple
    bit_rate: int
    out: str
    check: bool
    programs: str
    keep: bool = False
    share: list = dataclasses.field(default_factory=list)


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/outputs",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures the outputs of a share, which nginx takes by RTMP. Processor time is what the kernel\n"
        "counted for all threads while a scene moved. Writes outputs.json.",
        epilog="parts:\n"
        "  ten     a share without outputs, with eight of its frames as they are, and with two more that are\n"
        "          encoded once more; beside them FFmpeg, which sends one of them from a file as often\n"
        "  narrow  a push of 1 Mbit/s over a path that carries 300 kbit/s for 40 s, with an adaptive rate and\n"
        "          without; needs root, for network namespaces\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("part", nargs="*", metavar="PART", help="ten, narrow, or both (ten)")
    parser.add_argument("--scene", default="scroll", metavar="NAME",
                        help="what ten shows, of screenrelay-scene (scroll)")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="how long the scene counts in ten (20)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each, of which medians are told (3)")
    parser.add_argument("--size", choices=["1280x720"] + sorted(SIZES), default="1920x1080",
                        help="of the screen (1920x1080)")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--out", default="outputs-bench", metavar="DIR", help="where to write (outputs-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    given = parser.parse_args(arguments)
    for name in given.part:
        if name not in PARTS:
            parser.error("'%s' is none of %s" % (name, ", ".join(PARTS)))
    if given.scene not in SCENES:
        parser.error("--scene %s: it is none of %s" % (given.scene, ", ".join(SCENES)))
    if not 1 <= given.seconds <= 600:
        parser.error("--seconds %g: from 1 to 600" % given.seconds)
    if given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    return Options(given.part or ["ten"], given.scene, given.seconds, given.runs,
                   tuple(int(side) for side in given.size.split("x")), given.bitrate, given.out, given.check,
                   given.programs)


def medians(runs):
    """The medians of each case's figures; of words, those of the first run that has any."""
    def median(values):
        if isinstance(values[0], str):
            return next((value for value in values if value), "")
        return statistics.median(values)

    return {case: {key: median([run[case][key] for run in runs]) for key in runs[0][case]} for case in runs[0]}


def tell_ten(figures):
    rows = [[name, "%d" % sum(ten.CASES[name]), "%d" % figures[name]["encoders"]]
            + ["%.1f" % figures[name][key] for key in ("capture", "host", "encoding")]
            + ["%d" % figures[name]["dropped"]] for name in ten.CASES]
    lines = table(["case", "outputs", "encoders", "capture ms/s", "host ms/s", "of that encoders", "left out"], rows)
    lines += [""] + ["An output adds %.2f ms/s %s." % (value, how) for how, value in ten.derive(figures).items()]
    return lines


def tell_narrow(figures):
    rows = [[name, "%.0f" % (one["before"] / 1000), "%.0f" % (one["narrow"] / 1000), "%d" % one["left_out"],
             "%d" % one["left_out_settled"], "%.0f" % one["back"], one["faults"].split("\n")[0] or "none"]
            for name, one in figures.items()]
    return table(["rate", "before kbit/s", "narrow kbit/s", "left out", "of that settled", "back after s",
                  "decode errors"], rows)


TELL = {"ten": tell_ten, "narrow": tell_narrow}


def main():
    options = parse(sys.argv[1:])
    return carry_out("outputs", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    problem = server.missing() or (obstacle() if "narrow" in options.parts else None)
    if problem:
        raise Missing(problem)
    bench, failures, found, document = Bench(options, folder), [], [], {}
    for name in options.parts:
        runs, failed = bench.run_all(name, PARTS[name].measure)
        failures += failed
        if not runs:
            continue
        middle = medians(runs)
        document[name] = {"medians": middle, "runs": runs}
        found += PARTS[name].checks(middle)
        print("\n".join(["## " + name, "", circumstances(options) + ".", "", *TELL[name](middle), ""]))
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "outputs.json"), "w") as file:
        limits = [vars(one) for one in found]
        json.dump({"options": vars(options), "parts": document, "limits": limits}, file, indent=1)
    return conclude(failures, found, options.check)


sys.exit(main())
