"""The command line, and one measurement for each number of viewers."""

import argparse
import dataclasses
import json
import os
import shutil
import sys

from capture_bench.bench import REPOSITORY, build
from capture_bench.options import Parser
from capture_bench.outcome import carry_out, conclude, say
from capture_bench.processes import TROUBLE, Failure, Missing
from capture_bench.report import processor, table

from publish_bench import client, janus

from . import paths, shards, streams
from .beside import Janus, compare
from .disturb import disturb_all
from .disturbances import ALL as DISTURBANCES
from .generator import Program
from .host import Host
from .recording import record

PROGRAMS = ["screenrelay", "screenrelay-capture", "screenrelay-scene", "bench-viewers"]
#: Seconds between the last join and the measurement, and those that the rest of a step may take.
WARM, START = 3, 60


@dataclasses.dataclass
class Options:
    viewers: list
    seconds: float
    feedback: str
    no_offer: bool
    join_rate: int
    recording: str
    length: float
    size: tuple
    bit_rate: int
    host_core: int
    core: int
    janus: bool
    programs: str
    out: str
    by: str
    disturb: list
    disturb_seconds: float
    check: bool
    paths: list
    threads: int


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/viewers",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Shows a recording of a scrolled text to more and more viewers, all in one process, and prints the\n"
        "host's CPU time for each packet, what the viewers get, and the least that sending can cost on this\n"
        "machine, measured in the same run. The host has one processor, and everything else another one.",
        epilog="disturbances, each with its phases before, during and after:\n"
        "  busy    another program takes half of the host's processor for 10 s\n"
        "  joins   20 further joins per second for 60 s; each of these viewers leaves after 5 s\n"
        "  hellos  1,000 peers in 10 s that send a DTLS ClientHello, and then stop\n"
        "  checks  20,000 ICE checks with wrong passwords per second, from 250 ports, for 10 s\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("--viewers", default=None, metavar="LIST",
                        help="how many (1,10,100,500,1000; with --disturb 500)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S",
                        help="how long each number counts, or each phase without disturbance (10)")
    parser.add_argument("--disturb", default=None, metavar="LIST",
                        help="disturb a quiet host instead: %s, or all; see below" % ", ".join(DISTURBANCES))
    parser.add_argument("--disturb-seconds", type=float, default=None, metavar="S",
                        help="how long each disturbance takes (10; joins 60)")
    parser.add_argument("--check", action="store_true",
                        help="with --disturb: exit with 1 where a limit is missed, and print which")
    parser.add_argument("--by", choices=["whep", *streams.THREADS], default="whep",
                        help="how viewers get the video: over WebRTC by WHEP, as RTSP players over TCP, or over a "
                        "WebSocket (whep)")
    parser.add_argument("--feedback", choices=["all", "reports", "none"], default="all",
                        help="what viewers report: all that Chromium does, only receiver reports, or none (all)")
    parser.add_argument("--no-offer", action="store_true", help="viewers offer no transport-wide feedback")
    parser.add_argument("--path", action="append", default=[], metavar="PATH", dest="paths",
                        help="an emulated path to the viewers: loss=5%%, rate=300k, or both with a comma; with a "
                        "number, as in 1:loss=10%%, to so many viewers, which have a row each and may also be stalled "
                        "or gone; may be repeated")
    parser.add_argument("--join-rate", type=int, default=50, metavar="N", help="joins per second (50)")
    parser.add_argument("--recording", default=None, metavar="FILE",
                        help="show this recording; without it, one of a scrolled text is made")
    parser.add_argument("--length", type=float, default=9, metavar="S",
                        help="the length of the recording that is made (9)")
    parser.add_argument("--size", default="640x360", metavar="WxH", help="its size (640x360)")
    parser.add_argument("--bitrate", type=int, default=600_000, metavar="BITS", help="its bit rate (600000)")
    parser.add_argument("--host-core", type=int, default=0, metavar="N", help="the host's processor (0)")
    parser.add_argument("--core", type=int, default=1, metavar="N", help="the processor of everything else (1)")
    parser.add_argument("--janus", action="store_true",
                        help="also have the host push to a Janus in its place, show it to as many viewers there, and "
                        "compare; Tools/setup --bench unpacks Janus")
    parser.add_argument("--threads", type=int, default=None, metavar="N",
                        help="also a host with so many media threads on the same processor, and by how much more they "
                        "would carry on their own")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where %s are; without it they are built" % ", ".join(PROGRAMS))
    parser.add_argument("--out", default="viewers-bench", metavar="DIR", help="where to write (viewers-bench)")
    given = parser.parse_args(arguments)
    try:
        default = "500" if given.disturb else "1,10,100,500,1000"
        viewers = [int(one) for one in (given.viewers or default).split(",")]
        size = tuple(int(side) for side in given.size.split("x"))
    except ValueError:
        parser.error("--viewers %s, --size %s: write them like 1,10,100 and 1920x1080" % (given.viewers, given.size))
    if min(viewers) < 1 or len(size) != 2:
        parser.error("--viewers %s, --size %s: write them like 1,10,100 and 1920x1080" % (given.viewers, given.size))
    if not 1 <= given.seconds <= 600 or not 1 <= given.length <= 600:
        parser.error("--seconds and --length: from 1 to 600")
    if given.by != "whep" and (given.feedback != "all" or given.no_offer or given.janus or given.paths):
        parser.error("--by %s: --feedback, --no-offer, --janus and --path are for whep" % given.by)
    if given.threads is not None and (not 3 <= given.threads <= 8 or len(viewers) != 1 or given.by != "whep"
                                      or given.disturb or given.janus or given.paths):
        parser.error("--threads %d: from 3 to 8, with one number of viewers and nothing else" % given.threads)
    if given.join_rate < 1:
        parser.error("--join-rate %d: at least 1" % given.join_rate)
    problem = paths.problem(given.paths, viewers)
    if problem:
        parser.error(problem)
    if given.host_core == given.core:
        parser.error("--host-core %d and --core %d: two processors are needed" % (given.host_core, given.core))
    names = list(DISTURBANCES) if given.disturb == "all" else (given.disturb or "").split(",")
    disturb = [name for name in names if name]
    for name in disturb:
        if name not in DISTURBANCES:
            parser.error("--disturb %s: '%s' is none of %s" % (given.disturb, name, ", ".join(DISTURBANCES)))
    if disturb and len(viewers) != 1:
        parser.error("--viewers %s: one number with --disturb" % given.viewers)
    if given.paths and (disturb or given.janus):
        parser.error("--path: not with --disturb and --janus")
    if disturb and given.by != "whep":
        parser.error("--by %s: not with --disturb" % given.by)
    if not disturb and (given.check or given.disturb_seconds is not None):
        parser.error("--check and --disturb-seconds: only with --disturb")
    # A host ends the sessions that wrong checks name after 30 s.
    if given.disturb_seconds is not None and not 1 <= given.disturb_seconds <= (25 if "checks" in disturb else 600):
        parser.error("--disturb-seconds %g: from 1 to 600, with checks to 25" % given.disturb_seconds)
    return Options(viewers, given.seconds, given.feedback, given.no_offer, given.join_rate, given.recording,
                   given.length, size, given.bitrate, given.host_core, given.core, given.janus, given.programs,
                   given.out, given.by, disturb, given.disturb_seconds, given.check, given.paths, given.threads)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.count = options, folder, 0
        if not shutil.which("taskset"):
            raise Missing("taskset is missing; it is in the package util-linux")
        for core in (options.host_core, options.core):
            if core not in os.sched_getaffinity(0):
                raise Missing("processor %d can't be used" % core)
        problem = options.janus and (client.missing() or janus.missing())
        if problem:
            raise Missing(problem)
        self.programs = options.programs or build(
            tell, PROGRAMS, os.path.join(REPOSITORY, "Tools", "bench"),
            os.path.join(REPOSITORY, ".build", "viewers-bench"))
        for name in PROGRAMS:
            if not os.access(self.program(name), os.X_OK):
                raise Missing("--programs %s: there is no %s" % (self.programs, name))
        self.recording = options.recording or record(self.program, options, self.new_folder())
        # Only the host, and what stands in for it, runs on its processor; they choose it themselves.
        os.sched_setaffinity(0, {options.core})

    def program(self, name):
        return os.path.join(os.path.abspath(self.programs), name)

    def new_folder(self):
        """Its path is short, because a Unix socket's path is short by law (108 bytes)."""
        self.count += 1
        folder = os.path.join(self.folder, "%d" % self.count)
        os.makedirs(folder)
        return folder

    def generate(self, link, viewers, seconds, folder, emulated=()):
        """Viewers that are measured for so long; None measures the phases that the program's `mark` begins and ends."""
        options = self.options
        if options.by == "whep":
            words = ["generate", "--feedback", options.feedback] + ["--no-offer"] * options.no_offer
        else:
            words = streams.words(options.by)
        words += ["--viewers", str(viewers), "--join-rate", str(options.join_rate), "--warm", "%ds" % WARM,
                  "--core", str(options.core)]
        words += ["--phases"] if seconds is None else ["--seconds", "%gs" % seconds]
        words += ["--path=" + path for path in emulated]
        return Program(self.program("bench-viewers"), words + [link], folder)

    def measure(self, viewers, threads=None):
        """A row: a host of its own, so that its memory is that of these viewers."""
        folder = self.new_folder()
        more = shards.environment(threads, folder) if threads else {}
        host = Host(self.program, self.recording, self.options, folder, self.options.host_core, more=more)
        result = self.watch(host, viewers, folder)
        return {**result, **(self.floor(viewers, result, folder) if self.options.by == "whep" else {})}

    def measure_janus(self, viewers):
        """The same row, but of Janus instead of the host, and without the floor."""
        folder = self.new_folder()
        return self.watch(Janus(self.program, self.recording, self.options, folder), viewers, folder)

    def watch(self, host, viewers, folder):
        """What the viewers got, and what they cost; `host` is closed."""
        options = self.options
        limit = START + viewers / options.join_rate + options.seconds
        try:
            self.watch_once(host, folder)
            memory = host.memory()
            with self.generate(host.link, viewers, options.seconds, folder, options.paths) as crowd:
                crowd.wait_for("measuring", limit)
                renditions = paths.Renditions(host, options.paths, viewers) if options.paths else None
                before, media_before = host.threads(), host.media_threads()
                crowd.wait_for("measured", options.seconds + 30)
                after, media, grown = host.threads(), host.media_threads(), host.memory() - memory
                found = renditions.finish() if renditions else []
                result = crowd.wait_for("result", 30)
            host.require_running()
        finally:
            host.close()
        if not result["packets"] or not result["joined"]:
            raise Failure("the viewers got nothing: %s" % result.get("failure"))
        threads = {name: time - before.get(name, 0) for name, time in after.items()}
        joined = sum(one["joined"] for one in [result, *result["odd"]])
        return {**result, "renditions": found, "threads_ns": threads, "memory_kib": grown / joined,
                "media_ns": [time - media_before.get(number, 0) for number, time in media.items()],
                **self.cost(threads, result)}

    def watch_once(self, host, folder):
        """The first viewer of a host waits for the replay as well."""
        with self.generate(host.link, 1, 1, folder) as first:
            if first.wait_for("result", START)["joined"] != 1:
                raise Failure("the first viewer got no picture")

    def cost(self, threads, result):
        """The host's CPU time: percent of a processor, and microseconds for each packet."""
        senders = streams.THREADS.get(self.options.by, ["media"])
        used = {"host": sum(threads.values()), "media": sum(threads.get(name, 0) for name in senders)}
        packets = sum(one["packets"] + one["path_drops"] for one in [result, *result["odd"]])
        return {key: value for name, time in used.items() for key, value in (
            (name + "_percent", time / 1e7 / result["seconds"]), (name + "_us", time / 1e3 / packets))}

    def floor(self, viewers, result, folder):
        """The least that these packets can cost on this machine."""
        size = round(result["bytes"] / result["packets"])
        pictures = result["pictures"] * result["joined"]
        media = result["packets"] - result["retransmissions"] - result["paddings"]
        train = min(40, max(1, media / pictures)) if pictures else 2.6
        words = ["floor", "--viewers", str(viewers), "--size", str(min(1472, max(64, size))), "--packets-per-picture",
                 "%.2f" % train, "--seconds", "1s", "--core", str(self.options.core), "--sender-core",
                 str(self.options.host_core)]
        with Program(self.program("bench-viewers"), words, folder) as program:
            found = program.wait_for("floor", START)
        return {"packet_bytes": size, "packets_per_picture": train,
                **{"floor_" + key: found[key] for key in ("encryption_us", "sendto_us", "segmented_us",
                                                          "dropped_percent")}}


def row(one):
    return ["%d" % one["joined"], "%.1f" % one["host_percent"], "%.2f" % one["host_us"], "%.2f" % one["media_us"],
            "%.2f, %.2f" % (one["floor_sendto_us"], one["floor_segmented_us"]),
            "%.2f" % (one["media_us"] / max(1e-3, one["floor_sendto_us"])),
            "%.2f, %.2f" % (one["whole_percent"], one["whole_percent_worst"]), "%.1f" % one["spread_ms"]["p95"],
            "%.0f" % one["join_ms"]["p95"], "%.0f" % one["memory_kib"], "%d" % one["retransmissions"],
            "%.0f, %d" % (one["cpu_percent"], one["drops"])]


COLUMNS = ["viewers", "host, % of a core", "µs per packet", "of that media", "floor: sendto, UDP_SEGMENT",
           "media / sendto", "whole pictures %: all, worst viewer", "spread p95 ms", "join p95 ms", "KiB per viewer",
           "retransmissions", "bench-viewers: %, drops"]


def tell(text):
    say("viewers", text)


def measure_twice(title, measure, write, failures):
    """A row in a list; one that fails is measured once more. Empty if it fails again."""
    for attempt in (1, 2):
        try:
            one = measure()
            tell("%s: %s" % (title, ", ".join(write(one)) if write else "done"))
            return [one]
        except TROUBLE as error:
            tell("%s failed%s: %s" % (title, "" if attempt == 1 else " again", error))
    failures.append(title)
    return []


def measure_all(options, folder):
    bench, rows, servers, failures = Bench(options, folder), [], [], []
    if options.disturb:
        return disturb_all(bench, tell)
    is_whep = options.by == "whep"
    write = row if is_whep else streams.row
    for viewers in options.viewers:
        rows += measure_twice("%d viewers" % viewers, lambda: bench.measure(viewers), write, failures)
        if options.threads:
            rows += measure_twice("%d viewers, %d media threads" % (viewers, options.threads),
                                  lambda: bench.measure(viewers, options.threads), write, failures)
        if options.janus:
            servers += measure_twice(
                "%d viewers at Janus" % viewers, lambda: bench.measure_janus(viewers), None, failures)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "viewers.json"), "w") as file:
        json.dump({"options": vars(options), "processor": processor(), "rows": rows, "janus": servers,
                   "failures": failures}, file, indent=1)
    if rows:
        columns = COLUMNS if is_whep else streams.columns(options.by)
        print("\n".join(table(columns, [write(one) for one in rows])))
        if is_whep:
            note = "feedback: %s; %.1f packets per picture of %d bytes" % (
                options.feedback, rows[-1]["packets_per_picture"], rows[-1]["packet_bytes"])
        else:
            note = streams.note(options.by, rows[-1])
        print("\n%s, %s." % (processor(), note))
    if options.threads and len(rows) == 2:
        print("\n" + shards.line(rows))
    if rows and servers:
        print("\n".join(compare(rows, servers)))
    if rows and options.paths:
        print("\n".join(["", *paths.lines(rows)]))
    failures += ["%d of %d viewers: %s" % (one["failed"], one["viewers"], one["failure"])
                 for one in rows if one["failed"]]
    return conclude(failures, [], False)


def main():
    options = parse(sys.argv[1:])
    return carry_out("viewers", lambda folder: measure_all(options, folder))


sys.exit(main())
