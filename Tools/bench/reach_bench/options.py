"""The command line."""

import argparse
import dataclasses
import re

from capture_bench.options import Parser

from . import courses, proxies


@dataclasses.dataclass
class Options:
    courses: list
    proxies: list
    viewers: list
    browsers: list
    seconds: float
    lead: float
    runs: int
    round_trip: float
    queue: float
    bit_rate: int
    share: list
    size: tuple
    seed: int
    out: str
    check: bool
    list: bool
    programs: str
    keep: bool


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/reach",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures what viewers see of a shared screen through difficult networks, in headless Chromium\n"
        "and Firefox. The host and each viewer are in network namespaces of their own, as for Tools/bench/network,\n"
        "whose paths and figures these are: delays are from the scene's tick to the page's presentation of its\n"
        "picture. What doesn't get through is dropped by nftables. Proxies are configured as\n"
        "Documentation/operating.md has it, with a certificate that nobody vouches for, and browsers are told to\n"
        "accept it. Writes reach.md and reach.json, and prints the tables.",
        epilog="courses (all, if none is named):\n"
        + "".join("  %-8s %s\n" % (name, summary) for name, (summary, _) in courses.ALL.items()) +
        "\nDebian's Firefox has no OpenH264 plug-in, so that it plays no H.264 over WebRTC. MOZ_GMP_PATH in the\n"
        "environment, a folder gmp-gmpopenh264/VERSION as a profile of Mozilla's Firefox has one, gives it that.\n"
        "\nexamples:\n"
        "  Tools/bench/reach --check --runs 1                              about ten minutes\n"
        "  Tools/bench/reach proxy --proxies nginx --viewers firefox-https --runs 1\n"
        "\nexit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing; 70 a\n"
        "measurement failed twice; 77 not root: nothing was measured, and what was skipped is named.")
    parser.add_argument("courses", nargs="*", metavar="COURSE", help="what to measure; see below")
    parser.add_argument("--proxies", default=",".join(proxies.ALL), metavar="LIST",
                        help="proxy: which of %s (all)" % ", ".join(proxies.ALL))
    parser.add_argument("--viewers", default="chromium-https,chromium-http,firefox-https", metavar="LIST",
                        help="proxy: which of %s (all but the last)" % ", ".join(courses.VISITORS))
    parser.add_argument("--browsers", default=",".join(courses.BROWSERS), metavar="LIST",
                        help="blocked, direct: which of %s (both)" % ", ".join(courses.BROWSERS))
    parser.add_argument("--seconds", type=float, default=10, metavar="S",
                        help="how long a scene counts on the clean path; twice as long on the narrow one (10)")
    parser.add_argument("--lead", type=float, default=3, metavar="S",
                        help="how long the scene moves before that (3)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each, of which medians are told (3)")
    parser.add_argument("--rtt", type=float, default=40, metavar="MS", help="round trip without queues (40)")
    parser.add_argument("--queue", type=float, default=300, metavar="MS",
                        help="the longest wait in the narrow hop (300)")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, as in --share=--log=rate; may be repeated")
    parser.add_argument("--size", default="1280x720", metavar="WxH", help="of the screen (1280x720)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the paths (1)")
    parser.add_argument("--out", default="reach-bench", metavar="DIR", help="where to write (reach-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--list", action="store_true", help="print what would be measured, and how long it takes")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    parser.add_argument("--keep", action="store_true", help="keep logs and everything recorded in DIR/records")
    given = parser.parse_args(arguments)

    for name in given.courses:
        if name not in courses.ALL:
            parser.error("'%s' is none of %s" % (name, ", ".join(courses.ALL)))
    for name, value, least, most in (("runs", given.runs, 1, 100), ("seconds", given.seconds, 1, 600),
                                     ("lead", given.lead, 1, 600), ("rtt", given.rtt, 0, 10_000),
                                     ("queue", given.queue, 1, 60_000)):
        if not least <= value <= most:
            parser.error("--%s %g: from %g to %g" % (name, value, least, most))
    size = re.fullmatch(r"(\d{3,4})x(\d{3,4})", given.size)
    if not size:
        parser.error("--size %s: write it like 1280x720" % given.size)

    def chosen(name, text, known):
        for one in text.split(","):
            if one not in known:
                parser.error("--%s %s: '%s' is none of %s" % (name, text, one, ", ".join(known)))
        return text.split(",")

    return Options(
        courses=given.courses or list(courses.ALL), proxies=chosen("proxies", given.proxies, proxies.ALL),
        viewers=chosen("viewers", given.viewers, courses.VISITORS),
        browsers=chosen("browsers", given.browsers, courses.BROWSERS), seconds=given.seconds, lead=given.lead,
        runs=given.runs, round_trip=given.rtt, queue=given.queue, bit_rate=given.bitrate, share=given.share,
        size=tuple(int(side) for side in size.groups()), seed=given.seed, out=given.out, check=given.check,
        list=given.list, programs=given.programs, keep=given.keep)
