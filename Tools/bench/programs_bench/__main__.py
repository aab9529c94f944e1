"""Shows scenes of real programs, captures each with every build that is named, and prints what viewers see."""

import argparse
import json
import os
import statistics
import sys

from capture_bench.bench import build
from capture_bench.outcome import carry_out, conclude
from capture_bench.processes import TROUBLE, Missing

from .scenes import SCENES
from .stage import run

COLUMNS = [("painted", "painted fps", "%.1f"), ("fps", "fps", "%.1f"), ("qp", "QP", "%.1f"), ("mbit", "Mbit/s", "%.2f"),
           ("freezes", "freezes", "%g"), ("age_p95", "age p95 ms", "%.0f"), ("psnr", "PSNR", "%.1f"),
           ("psnr_after", "PSNR 1 s after", "%.1f"), ("cpu", "CPU %", "%.1f"), ("memory", "peak MiB", "%.1f")]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="Tools/bench/programs", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Captures scenes of real programs, each on an X server of its own, and prints what viewers see over\n"
        "a link of the given bit rate. Builds take turns. More than half of the scenes are held out: settings are\n"
        "chosen on the others. Ages are what p95 of the time has been painted and not been seen; freezes are counted as\n"
        "Chromium does.",
        epilog="example:\n  Tools/bench/programs --programs before=/tmp/before --programs after=.build/release --runs 3")
    parser.add_argument("--scenes", default="all", metavar="LIST",
                        help="which of %s; or chosen, held-out, all (all)" % ",".join(SCENES))
    parser.add_argument("--programs", action="append", default=[], metavar="[LABEL=]DIR",
                        help="where screenrelay-capture and screenrelay-scene are; without it they are built")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="runs of each scene (1)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S", help="how long is measured (10)")
    parser.add_argument("--bitrate", dest="bit_rate", type=int, default=4_000_000, metavar="BITS", help="(4000000)")
    parser.add_argument("--out", default="programs-bench", metavar="DIR", help="where programs.json goes")
    parser.add_argument("--keep", default=None, metavar="DIR", help="keep streams and logs")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="more for screenrelay-capture, after --")
    options = parser.parse_args(arguments)
    halves = {"all": (True, False), "chosen": (False,), "held-out": (True,)}
    if options.scenes in halves:
        names = [name for name, scene in SCENES.items() if scene.is_held_out in halves[options.scenes]]
    else:
        names = options.scenes.split(",")
    for name in names:
        if name not in SCENES:
            parser.error("--scenes: '%s' is none of %s" % (name, ", ".join(SCENES)))
    options.scenes = [SCENES[name] for name in names]
    return options


def main():
    options = parse(sys.argv[1:])
    return carry_out("programs", lambda folder: measure(options, folder), options.keep)


def measure(options, folder):
    def say(text):
        print(text, file=sys.stderr, flush=True)

    for scene in options.scenes:
        scene.require()
    builds = dict(one.split("=", 1) if "=" in one else ("ours", one) for one in options.programs)
    if not builds:
        builds = {"ours": build(say, ["screenrelay-capture", "screenrelay-scene"])}
    for where in builds.values():
        if not os.access(os.path.join(where, "screenrelay-capture"), os.X_OK):
            raise Missing("--programs %s: there is no screenrelay-capture" % where)
    results, failures = {}, []
    for scene in options.scenes:
        scene.prepare(say, next(iter(builds.values())))
        runs = {label: [] for label in builds}
        for number in range(options.runs):
            for label, where in list(builds.items())[::1 if number % 2 == 0 else -1]:
                name = "%s, %s, run %d" % (scene.name, label, number + 1)
                try:
                    runs[label].append(run(scene, os.path.join(where, "screenrelay-capture"), options,
                                           os.path.join(folder, "%s-%s-%d" % (scene.name, label, number + 1))))
                    say(name + ": " + words(runs[label][-1]))
                except TROUBLE as error:
                    failures.append("%s: %s" % (name, error))
        for label, some in runs.items():
            if some:
                medians = {key: statistics.median(one[key] for one in some) for key in some[0]}
                results.setdefault(scene.name, {})[label] = {"medians": medians, "runs": some}
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "programs.json"), "w") as file:
        json.dump(results, file, indent=1)
    print(table(results))
    return conclude(failures, [], False)


def words(figures):
    return ", ".join("%s %s" % (title, shape % figures[key]) for key, title, shape in COLUMNS)


def table(results):
    lines = ["| scene | build | " + " | ".join(title for _, title, _ in COLUMNS) + " |",
             "| --- | --- |" + " --- |" * len(COLUMNS)]
    for name, builds in results.items():
        title = name + (" (held out)" if SCENES[name].is_held_out else "")
        for label, entry in builds.items():
            cells = [shape % entry["medians"][key] for key, _, shape in COLUMNS]
            lines.append("| %s | %s | %s |" % (title, label, " | ".join(cells)))
    return "\n".join(lines)


sys.exit(main())
