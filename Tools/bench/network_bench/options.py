"""The command line."""

import argparse
import dataclasses
import re

from capture_bench.options import Parser

from .scenarios import ALL

SCENES = ["typing", "scroll", "drag", "video", "full", "flick", "idle"]


@dataclasses.dataclass
class Options:
    scenarios: list
    scenes: list
    seconds: float
    lead: float
    runs: int
    queues: list
    low: float
    high: float
    losses: list
    round_trip: float
    round_trips: list
    narrow: int
    clean: int
    bit_rate: int
    share: list
    size: tuple
    seed: int
    out: str
    check: bool
    check_path: bool
    list: bool
    programs: str
    keep: bool


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/network",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures what viewers see of a shared screen over narrow, lossy and slow networks.\n"
        "The host, and headless Chromium as each viewer, run in network namespaces of their own; between them lie TUN\n"
        "devices and a forwarder, which has the rate, queue, loss, delay, jitter, reordering and duplicates of the\n"
        "scenario, from one seed. Delays are from the scene's tick to the page's presentation of its picture, read\n"
        "from the picture's pixels on one clock. Writes network.md and network.json, and prints the tables.",
        epilog="scenarios (all, if none is named):\n"
        + "".join("  %-14s %s\n" % (one.name, one.summary) for one in ALL.values()) +
        "\nWith more than four viewers, all but the first of each kind decode their pictures and don't draw them: a\n"
        "tenth of a processor each at 1280x720. The report tells how busy the machine was; near 100 % it measures\n"
        "itself.\n"
        "\nDebian 12 has GStreamer's webrtcbin, but not rtpgccbwe (it is in gst-plugins-rs, which isn't packaged), so\n"
        "there is no sender with congestion control to compare with.\n\n"
        "examples:\n"
        "  Tools/bench/network steps --scene scroll --queue 300 --runs 1      about 95 s\n"
        "  Tools/bench/network steps --low 300 --narrow 5 --clean 10\n"
        "  Tools/bench/network loss --seconds 300 --check                     five minutes for each share of loss\n"
        "  Tools/bench/network loss --scene typing --loss 5\n"
        "  Tools/bench/network --check-path                                   are the paths as they should be?\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check) or a path is not as asked (--check-path); 64 usage; 69\n"
        "something that is needed is missing; 70 a measurement failed twice; 77 not root: nothing was measured, and\n"
        "what was skipped is named.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="what to measure; see below")
    parser.add_argument("--scene", default=None, metavar="LIST",
                        help="which of %s; by default, the scenario's own" % ",".join(SCENES))
    parser.add_argument("--seconds", type=float, default=None, metavar="S",
                        help="length of a phase (steps 20, others 60); for first-picture, how often the page is opened")
    parser.add_argument("--lead", type=float, default=5, metavar="S",
                        help="how long the scene moves before the first phase (5)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each, of which medians are told (3)")
    parser.add_argument("--queue", default="100,300,1000", metavar="LIST",
                        help="steps: the longest wait in the narrow hop, in ms (100,300,1000)")
    parser.add_argument("--low", type=float, default=500, metavar="KBITS", help="the narrow link, in kbit/s (500)")
    parser.add_argument("--high", type=float, default=4000, metavar="KBITS",
                        help="steps: the link before and after, in kbit/s (4000)")
    parser.add_argument("--loss", default="1,5,10,20", metavar="LIST", help="loss: percent (1,5,10,20)")
    parser.add_argument("--rtt", type=float, default=40, metavar="MS", help="round trip without queues (40)")
    parser.add_argument("--rtts", default="0,40,100", metavar="LIST",
                        help="first-picture: round trips in ms (0,40,100)")
    parser.add_argument("--narrow", type=int, default=1, metavar="N", help="viewers on the scenario's path (1)")
    parser.add_argument("--clean", type=int, default=1, metavar="N",
                        help="viewers beside them with the same delay and nothing else, where there are any (1)")
    parser.add_argument("--bitrate", default=None, metavar="RATE",
                        help="what the share may send, as in 4M (4M; 2M for loss, burst, duplicates, reorder, jitter)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, as in --share=--log=rate; may be repeated")
    parser.add_argument("--size", default="1280x720", metavar="WxH", help="of the screen (1280x720)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of loss, jitter and the like (1)")
    parser.add_argument("--out", default="network-bench", metavar="DIR", help="where to write (network-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--check-path", action="store_true", help="measure the paths alone, without a host")
    parser.add_argument("--list", action="store_true", help="print what would be measured, and how long it takes")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    parser.add_argument("--keep", action="store_true", help="keep logs and everything recorded in DIR/records")
    given = parser.parse_args(arguments)

    for name in given.scenarios:
        if name not in ALL:
            parser.error("'%s' is none of %s" % (name, ", ".join(ALL)))
    scenes = given.scene.split(",") if given.scene else None
    for name in scenes or []:
        if name not in SCENES:
            parser.error("--scene %s: '%s' is none of %s" % (given.scene, name, ", ".join(SCENES)))
    for name, value, least, most in (("runs", given.runs, 1, 100), ("seconds", given.seconds, 1, 3600),
                                     ("lead", given.lead, 1, 600),
                                     ("low", given.low, 10, 1e6), ("high", given.high, 10, 1e6),
                                     ("rtt", given.rtt, 0, 10_000), ("narrow", given.narrow, 1, 100),
                                     ("clean", given.clean, 0, 100)):
        if value is not None and not least <= value <= most:
            parser.error("--%s %g: from %g to %g" % (name, value, least, most))
    size = re.fullmatch(r"(\d{3,4})x(\d{3,4})", given.size)
    if not size:
        parser.error("--size %s: write it like 1280x720" % given.size)
    return Options(
        scenarios=given.scenarios or list(ALL), scenes=scenes, seconds=given.seconds, lead=given.lead, runs=given.runs,
        queues=_numbers(parser, "queue", given.queue, 1, 60_000), low=given.low, high=given.high,
        losses=_numbers(parser, "loss", given.loss, 0, 90), round_trip=given.rtt,
        round_trips=_numbers(parser, "rtts", given.rtts, 0, 10_000), narrow=given.narrow, clean=given.clean,
        bit_rate=_bits(parser, given.bitrate), share=given.share,
        size=tuple(int(side) for side in size.groups()), seed=given.seed, out=given.out,
        check=given.check, check_path=given.check_path, list=given.list, programs=given.programs, keep=given.keep)


def _numbers(parser, name, text, least, most):
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        parser.error("--%s %s: not numbers; write them like 100,300" % (name, text))
    for number in numbers:
        if not least <= number <= most:
            parser.error("--%s %g: from %g to %g" % (name, number, least, most))
    return numbers


def _bits(parser, text):
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)([kMG]?)", text)
    if not match:
        parser.error("--bitrate %s: write it like 4M or 600k" % text)
    return int(match[1]) * {"": 1, "k": 1000, "M": 10 ** 6, "G": 10 ** 9}[match[2]]
