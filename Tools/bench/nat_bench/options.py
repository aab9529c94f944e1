"""The command line."""

import argparse
import dataclasses
import re

from capture_bench.options import Parser

from .courses import ALL, FIRST_PICTURE


@dataclasses.dataclass
class Options:
    courses: list
    runs: int
    share: list
    size: tuple
    out: str
    check: bool
    programs: str
    keep: bool


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/nat",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Shows by which way a viewer gets the pictures of a host if both are behind NATs.\n"
        "Host, viewer (headless Chromium), their two routers and a public net with coturn are network namespaces,\n"
        "joined by virtual Ethernet; nftables translates addresses. The host's router forwards the page's port and\n"
        "nothing else, so that the pictures have to find a way of their own. Writes nat.md and nat.json, and prints\n"
        "the table.",
        epilog="courses (all, if none is named):\n"
        + "".join("  %-16s expected: %s\n" % (one.name, one.expected) for one in ALL.values()) +
        "\nA preserving NAT keeps the source port for all destinations, a random one takes another for each; both let\n"
        "in only what comes from an address and port that was sent to. no-udp: both are preserving, and no UDP passes\n"
        "the viewer's router. Limits (--check): the expected way, and a picture within %g s, in each run.\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing; 70 a\n"
        "measurement failed twice; 77 not root: nothing was measured, and what was skipped is named." % FIRST_PICTURE)
    parser.add_argument("courses", nargs="*", metavar="COURSE", help="what to measure; see below")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each (3)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, as in --share=--log=info; may be repeated")
    parser.add_argument("--size", default="1280x720", metavar="WxH", help="of the screen (1280x720)")
    parser.add_argument("--out", default="nat-bench", metavar="DIR", help="where to write (nat-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    parser.add_argument("--keep", action="store_true", help="keep logs in DIR/records")
    given = parser.parse_args(arguments)
    for name in given.courses:
        if name not in ALL:
            parser.error("'%s' is none of %s" % (name, ", ".join(ALL)))
    if not 1 <= given.runs <= 100:
        parser.error("--runs %d: from 1 to 100" % given.runs)
    size = re.fullmatch(r"(\d{3,4})x(\d{3,4})", given.size)
    if not size:
        parser.error("--size %s: write it like 1280x720" % given.size)
    return Options(given.courses or list(ALL), given.runs, given.share,
                   tuple(int(side) for side in size.groups()), given.out, given.check, given.programs, given.keep)
