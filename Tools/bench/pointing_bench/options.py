"""The command line."""

import argparse
import dataclasses
import re

from capture_bench.options import Parser

from .figures import places

SCENES = ["idle", "typing", "scroll", "full"]
PARTS = ["delay", "cost"]


@dataclasses.dataclass
class Options:
    parts: list
    scenes: list
    dots: int
    seconds: float
    runs: int
    size: tuple
    bit_rate: int
    share: list
    seed: int
    out: str
    check: bool
    programs: str
    keep: bool


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/pointing",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures a viewer that points, in headless Chromium, at a screen that is shared from Xvfb over\n"
        "loopback, without a compositing manager. Writes pointing.json, and prints the tables.\n\n"
        "delay: from just before DevTools is told of the pointer's event until the overlay's pixel has the viewer's\n"
        "  colour in the framebuffer of the sharer's X server, read from memory twice per millisecond on one clock.\n"
        "  The laser's pixel is the middle of its dot; the pen's is the middle of a line of 40 pixels, drawn by one\n"
        "  event. The delay from the event's own timeStamp is beside it.\n"
        "cost: CPU time per second without pointing, and while the pointer moves 60 times per second, of which the page\n"
        "  sends 30 places. screenrelay-capture also draws the overlay, so its CPU time contains that. The pictures\n"
        "  that it encodes are counted too, and must not become more. Each phase is from one report of the capture to\n"
        "  another, so that the count is exact. The scene repaints what a dot uncovers, as programs have to.",
        epilog="examples:\n"
        "  Tools/bench/pointing --check                       all of it, about 8 minutes\n"
        "  Tools/bench/pointing --parts delay --runs 1        the delay alone, about 2 minutes\n"
        "  Tools/bench/pointing --parts cost --scenes idle    one scene\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("--parts", default="delay,cost", metavar="LIST", help="which of delay,cost (both)")
    parser.add_argument("--scenes", default="idle,typing", metavar="LIST",
                        help="what is shared: which of %s (idle,typing); the others have no limits" % ",".join(SCENES))
    parser.add_argument("--dots", type=int, default=60, metavar="N",
                        help="places at which the laser points, and lines of the pen (60)")
    parser.add_argument("--seconds", type=float, default=15, metavar="S", help="length of each phase of cost (15)")
    parser.add_argument("--runs", type=int, default=2, metavar="N", help="runs, of which medians are reported (2)")
    parser.add_argument("--size", default="1280x720", metavar="WxH", help="of the shared screen (1280x720)")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, for example --share=--chroma=444; may be repeated")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the places' order (1)")
    parser.add_argument("--out", default="pointing-bench", metavar="DIR", help="where to write (pointing-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    parser.add_argument("--keep", action="store_true", help="keep logs in DIR/records")
    given = parser.parse_args(arguments)

    def chosen(name, text, known):
        names = text.split(",")
        for one in names:
            if one not in known:
                parser.error("--%s %s: '%s' is none of %s" % (name, text, one, ", ".join(known)))
        return list(dict.fromkeys(names))

    for name, value, least, most in (("dots", given.dots, 50, 500), ("seconds", given.seconds, 5, 120),
                                     ("runs", given.runs, 1, 100)):
        if not least <= value <= most:
            parser.error("--%s %g: from %g to %g" % (name, value, least, most))
    size = re.fullmatch(r"(\d{3,4})x(\d{3,4})", given.size)
    if not size:
        parser.error("--size %s: write it like 1280x720" % given.size)
    size = tuple(int(side) for side in size.groups())
    if places(size, given.dots, given.seed) is None:
        parser.error("--size %s: too small for %d dots" % (given.size, given.dots))
    return Options(
        parts=chosen("parts", given.parts, PARTS), scenes=chosen("scenes", given.scenes, SCENES), dots=given.dots,
        seconds=given.seconds, runs=given.runs, size=size, bit_rate=given.bitrate, share=given.share, seed=given.seed,
        out=given.out, check=given.check, programs=given.programs, keep=given.keep)
