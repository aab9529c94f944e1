"""The command line."""

import argparse
import dataclasses

from capture_bench.options import Parser

from . import paths, streams
from .disturbances import ALL as DISTURBANCES
from .limits import COMPARED

PROGRAMS = ["screenrelay", "screenrelay-capture", "screenrelay-scene", "bench-viewers"]


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
    against: str


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
                        help="how many (1,10,100,500,1000; with --disturb 500, with --against 400)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S",
                        help="how long each number counts, or each phase without disturbance (10)")
    parser.add_argument("--disturb", default=None, metavar="LIST",
                        help="disturb a quiet host instead: %s, or all; see below" % ", ".join(DISTURBANCES))
    parser.add_argument("--disturb-seconds", type=float, default=None, metavar="S",
                        help="how long each disturbance takes (10; joins 60)")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 if a limit is missed, and print which")
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
    parser.add_argument("--against", default=None, metavar="DIR",
                        help="instead, by how much a packet of --programs differs from one of the programs in DIR: "
                        "both hosts share the processor, with so many viewers each (400), three times")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where %s are; without it they are built" % ", ".join(PROGRAMS))
    parser.add_argument("--out", default="viewers-bench", metavar="DIR", help="where to write (viewers-bench)")
    given = parser.parse_args(arguments)
    try:
        default = "500" if given.disturb else "400" if given.against else "1,10,100,500,1000"
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
    if given.against and (not given.programs or len(viewers) != 1 or given.by != "whep" or given.disturb
                          or given.janus or given.paths or given.threads):
        parser.error("--against %s: with --programs and one number of viewers, and nothing else" % given.against)
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
    if not disturb and given.disturb_seconds is not None:
        parser.error("--disturb-seconds: only with --disturb")
    if given.check and (given.by != "whep" or given.paths or given.against):
        parser.error("--check: not with --by, --path and --against, which have no limits")
    if given.check and given.janus and not disturb and COMPARED not in viewers:
        parser.error("--check --janus: %d viewers have the limit; name them in --viewers" % COMPARED)
    # A host ends the sessions that wrong checks name after 30 s.
    if given.disturb_seconds is not None and not 1 <= given.disturb_seconds <= (25 if "checks" in disturb else 600):
        parser.error("--disturb-seconds %g: from 1 to 600, with checks to 25" % given.disturb_seconds)
    return Options(viewers, given.seconds, given.feedback, given.no_offer, given.join_rate, given.recording,
                   given.length, size, given.bitrate, given.host_core, given.core, given.janus, given.programs,
                   given.out, given.by, disturb, given.disturb_seconds, given.check, given.paths, given.threads,
                   given.against)
