"""Measures what a viewer costs a host, and what one at a server to which the host publishes does."""

import argparse
import dataclasses
import json
import os
import statistics
import sys

from capture_bench.limits import at_least, at_most
from capture_bench.options import SCENES, SIZES, Parser
from capture_bench.outcome import carry_out, conclude
from capture_bench.processes import Missing
from capture_bench.report import circumstances, table
from capture_bench.timing import share as quantile
from network_bench.bench import Bench
from publish_bench import client, janus

from . import course

#: The scenes by default: still, typing, a scrolled text, motion of the whole picture.
USUAL = ["idle", "typing", "scroll", "full"]
#: Milliseconds of processor time a second, and KiB, that a further viewer of a scrolled text of this size may cost.
TIME_LIMIT, MEMORY_LIMIT, LIMITED = 10, 512, "1920x1080"
#: Percent of the frames that each viewer without transport-wide feedback must get on a clean path.
FRAMES = 99.9


@dataclasses.dataclass
class Options:
    ways: list
    scenes: list
    viewers: list
    seconds: float
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
        prog="Tools/bench/scale",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Lets more and more receivers in, and tells what each further one costs. A receiver connects by\n"
        "ICE and DTLS, counts packets, and reports as Chromium does, but decrypts and decodes nothing, so that one\n"
        "machine carries hundreds. Processor time is what the kernel counted. Writes scale.json.",
        epilog="ways:\n"
        "  direct  all watch the host, by WHEP\n"
        "  reports the same, but they send only receiver reports, of which one's always name sequence number 0\n"
        "  janus   the host publishes to the real Janus, and all watch there; Tools/setup --bench unpacks it\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("way", nargs="*", metavar="WAY", help="direct, reports or janus (direct)")
    parser.add_argument("--scenes", default=",".join(USUAL), metavar="LIST",
                        help="of screenrelay-scene (%s)" % ",".join(USUAL))
    parser.add_argument("--viewers", default="1,10,30,100", metavar="LIST", help="how many (1,10,30,100)")
    parser.add_argument("--seconds", type=float, default=8, metavar="S", help="how long each number counts (8)")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="runs of each, of which medians are told (1)")
    parser.add_argument("--size", choices=["1280x720"] + sorted(SIZES), default="1920x1080",
                        help="of the screen (1920x1080)")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--out", default="scale-bench", metavar="DIR", help="where to write (scale-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    parser.add_argument("--keep", action="store_true", help="keep the programs' messages in DIR/records")
    given = parser.parse_args(arguments)
    for name in given.way:
        if name not in course.WAYS:
            parser.error("'%s' is none of %s" % (name, ", ".join(course.WAYS)))
    scenes = given.scenes.split(",")
    for name in scenes:
        if name not in SCENES:
            parser.error("--scenes %s: '%s' is none of %s" % (given.scenes, name, ", ".join(SCENES)))
    try:
        viewers = [int(one) for one in given.viewers.split(",")]
    except ValueError:
        viewers = []
    # What a further one costs takes two numbers.
    fewest = 1 if given.way == ["reports"] else 2
    if len(viewers) < fewest or viewers[0] < 1 or any(one >= next for one, next in zip(viewers, viewers[1:])):
        parser.error("--viewers %s: at least %d numbers that rise, like 1,10,100" % (given.viewers, fewest))
    if not 1 <= given.seconds <= 600:
        parser.error("--seconds %g: from 1 to 600" % given.seconds)
    if given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    if given.check and not _has_limits(given.way or ["direct"], scenes, given.size):
        parser.error("--check: there are limits only for the way reports, and for direct with the scene scroll and %s" % LIMITED)
    return Options(given.way or ["direct"], scenes, viewers, given.seconds, given.runs,
                   tuple(int(side) for side in given.size.split("x")), given.bitrate, given.out, given.check,
                   given.programs, given.keep)


def _has_limits(ways, scenes, size):
    return "reports" in ways or "direct" in ways and "scroll" in scenes and size == LIMITED


def medians(runs):
    """The medians of each row's figures; of lists, all of them in one."""
    def median(values):
        return sum(values, []) if isinstance(values[0], list) else statistics.median(values)

    return [{key: median([run[index][key] for run in runs]) for key in runs[0][index]} for index in range(len(runs[0]))]


def derive(rows):
    """What each viewer beyond the first number costs: ms of processor time a second, and KiB."""
    first, last = rows[0], rows[-1]
    more = last["viewers"] - first["viewers"]
    return {key: (last[key] - first[key]) / more for key in ("host", "media", "server", "memory", "server_memory")}


def tell(way, results):
    has_server = way == "janus"
    columns = ["scene", "viewers", "host ms/s", "of that media", "capture ms/s", "host MiB"]
    columns += ["Janus ms/s", "Janus MiB"] if has_server else []
    columns += ["frames: most, least", "low rendition", "false reports"] if way == "reports" else []
    columns += ["kbit/s to each: mean, least", "packets/s to each", "missing", "receivers ms/s", "machine busy"]
    lines = []
    for scene, rows in results.items():
        for row in rows:
            lines.append(
                [scene, "%d" % row["viewers"], *("%.1f" % row[key] for key in ("host", "media", "capture")),
                 "%.1f" % (row["memory"] / 1024),
                 *(["%.1f" % row["server"], "%.1f" % (row["server_memory"] / 1024)] if has_server else []),
                 *(["%d, %d" % (row["frames_most"], row["frames_least"]), "%d" % row["narrow"], "%d" % row["faults"]]
                   if way == "reports" else []),
                 "%.0f, %.0f" % (row["kbit_each"], row["kbit_least"]), "%.1f" % row["packets_each"],
                 "%d" % row["missing"], "%.0f" % row["crowd"], "%.0f %%" % (100 * row["busy"])])
    words = table(columns, lines)
    where, time, memory = ("Janus", "server", "server_memory") if has_server else ("the host", "host", "memory")
    for scene, rows in results.items():
        if len(rows) < 2:
            continue
        more = derive(rows)
        words += ["", "%s: each further viewer costs %s %.2f ms/s and %.0f KiB%s." % (
            scene, where, more[time], more[memory],
            ", and the host %.2f ms/s" % more["host"] if has_server else ", %.2f ms/s of it the media threads'"
            % more["media"])]
    for scene, rows in results.items():
        last = rows[-1]
        words += ["", "%s: %d joins, one after the other: %.1f ms of the host's processor time each%s; connected after "
                  "%s ms, a key frame after %s ms (median, 95 of 100, longest)." % (
                      scene, last["new"], last["joining_host"],
                      ", %.1f of Janus'" % last["joining_server"] if has_server else "",
                      *(", ".join("%.0f" % quantile(last[key], part) for part in (0.5, 0.95, 1))
                        for key in ("connected_ms", "first_ms")))]
    return words


def checks(options, way, results):
    if way == "reports":
        return [check for scene, rows in results.items() for row in rows for check in (
            at_least("%s, %d viewers, frames of the one with fewest" % (scene, row["viewers"]),
                     100 * row["frames_least"] / max(1, row["frames_most"]), FRAMES, "% of the most"),
            at_most("%s, %d viewers, with the low-rate rendition" % (scene, row["viewers"]), row["narrow"], 0, ""))]
    if not _has_limits([way], results, "%dx%d" % options.size):
        return []
    more = derive(results["scroll"])
    return [at_most("a further viewer of a scrolled text", more["host"], TIME_LIMIT, "ms/s"),
            at_most("the same, memory", more["memory"], MEMORY_LIMIT, "KiB")]


def main():
    options = parse(sys.argv[1:])
    return carry_out("scale", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    problem = client.missing() or (janus.missing() if "janus" in options.ways else None)
    if problem:
        raise Missing(problem)
    bench, failures, found, document = Bench(options, folder), [], [], {}
    for way in options.ways:
        results = {}
        for scene in options.scenes:
            runs = []
            for number in range(options.runs):
                bench.say("%s, %s, run %d of %d" % (way, scene, number + 1, options.runs))
                run = bench.run_twice(
                    "%s, %s" % (way, scene), lambda folder: course.measure(bench, way, scene, folder))
                if run:
                    runs.append(run)
                else:
                    failures.append("%s, %s, run %d" % (way, scene, number + 1))
            if runs:
                results[scene] = medians(runs)
        if not results:
            continue
        document[way] = results
        found += checks(options, way, results)
        title = course.WAYS[way].title
        print("\n".join(["## " + title, "", circumstances(options) + ".", "", *tell(way, results), ""]), flush=True)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "scale.json"), "w") as file:
        json.dump({"options": vars(options), "ways": document, "failures": failures,
                   "limits": [vars(one) for one in found]}, file, indent=1)
    return conclude(failures, found, options.check)


sys.exit(main())
