"""The command line."""

import argparse
import dataclasses
import re

from capture_bench.options import Parser

#: Those that change all the time, so that a gap is a freeze.
SCENES = ["scroll", "full", "drag", "video"]
#: Eight phases of so many seconds end before the counter of 16 bits begins again.
LONGEST = 200
#: The server that needs no other one: the host itself.
HOST = "screenrelay"


@dataclasses.dataclass
class Options:
    scene: str
    seconds: float
    lead: float
    runs: int
    losses: list
    low: float
    high: float
    queue: float
    round_trip: float
    bit_rate: int
    share: list
    size: tuple
    seed: int
    server: str
    out: str
    check: bool
    programs: str
    keep: bool


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/view",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures `screenrelay view` beside Chromium, both viewers of one share at the same time. Each\n"
        "has an X server of its own and is at the end of an emulated path of its own; both paths do the same, from\n"
        "the same seed: no loss, random loss, and a link that becomes narrow and wide again. Delays are from the X\n"
        "server's painting of a counter until the framebuffer of the viewer's X server shows it, read from memory\n"
        "twice per millisecond on one clock. Writes view.json, and prints the table.\n\n"
        "With --server janus or aiortc, both watch at that server instead, on this machine: view over WHEP, and\n"
        "Chromium in a page that has only a video, over WHEP at aiortc, and by answering Janus' offer. Delays,\n"
        "frames and CPU time are measured in the same way, in one phase without emulated paths, and without root.",
        epilog="examples:\n"
        "  Tools/bench/view --check                      all of it, about 3 minutes\n"
        "  Tools/bench/view --seconds 30 --runs 3        longer phases\n"
        "  Tools/bench/view --loss 1,10 --high 8000      other paths\n"
        "  Tools/bench/view --server janus --check       both at a Janus instead, about 1 minute\n"
        "  Tools/bench/view --server aiortc --scene full both at a server by aiortc\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice; 77 not root: nothing was measured.")
    parser.add_argument("--scene", choices=SCENES, default="scroll", help="what is shared (scroll)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S", help="length of a phase (10)")
    parser.add_argument("--lead", type=float, default=4, metavar="S",
                        help="how long the scene moves before the first phase (4)")
    parser.add_argument("--runs", type=int, default=2, metavar="N", help="runs, of which medians are reported (2)")
    parser.add_argument("--loss", default="2,5", metavar="LIST",
                        help="percent of the packets to the viewers that are lost (2,5)")
    parser.add_argument("--low", type=float, default=500, metavar="KBITS", help="the narrow link, in kbit/s (500)")
    parser.add_argument("--high", type=float, default=4000, metavar="KBITS",
                        help="the link before and after, in kbit/s (4000)")
    parser.add_argument("--queue", type=float, default=300, metavar="MS",
                        help="the longest wait in the narrow hop (300)")
    parser.add_argument("--rtt", type=float, default=40, metavar="MS", help="round trip without queues (40)")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, for example --share=--chroma=444; may be repeated")
    parser.add_argument("--size", default="1280x720", metavar="WxH", help="of all screens (1280x720)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the losses (1)")
    parser.add_argument("--server", choices=[HOST, "janus", "aiortc"], default=HOST,
                        help="where both watch (%s): Tools/setup --bench unpacks Janus, and Tools/python installs "
                        "aiortc; --loss, --low, --high, --queue, --rtt and --seed have no effect there" % HOST)
    parser.add_argument("--out", default="view-bench", metavar="DIR", help="where to write (view-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    parser.add_argument("--keep", action="store_true", help="keep logs in DIR/records")
    given = parser.parse_args(arguments)

    for name, value, least, most in (("seconds", given.seconds, 5, LONGEST), ("lead", given.lead, 1, 60),
                                     ("runs", given.runs, 1, 100), ("low", given.low, 10, 1e6),
                                     ("high", given.high, 10, 1e6), ("queue", given.queue, 1, 60_000),
                                     ("rtt", given.rtt, 0, 10_000)):
        if not least <= value <= most:
            parser.error("--%s %g: from %g to %g" % (name, value, least, most))
    size = re.fullmatch(r"(\d{3,4})x(\d{3,4})", given.size)
    if not size:
        parser.error("--size %s: write it like 1280x720" % given.size)
    try:
        losses = [float(word) for word in given.loss.split(",")]
    except ValueError:
        parser.error("--loss %s: write it like 2,5" % given.loss)
    if not len(losses) == len(set(losses)) <= 4 or not all(0 < one <= 90 for one in losses):
        parser.error("--loss %s: at most four different ones, above 0 and at most 90" % given.loss)
    return Options(
        scene=given.scene, seconds=given.seconds, lead=given.lead, runs=given.runs, losses=losses, low=given.low,
        high=given.high, queue=given.queue, round_trip=given.rtt, bit_rate=given.bitrate, share=given.share,
        size=tuple(int(side) for side in size.groups()), seed=given.seed, server=given.server, out=given.out,
        check=given.check, programs=given.programs, keep=given.keep)
