"""The command line."""

import argparse
import dataclasses

from capture_bench.options import Parser

SCENES = ["idle", "pointer", "typing", "scroll", "full"]
PARTS = ["cost", "picture", "paint"]


@dataclasses.dataclass
class Options:
    scenes: list
    runs: int
    seconds: float
    parts: list
    out: str
    check: bool
    quick: bool
    programs: str
    #: What the limits are for.
    size: tuple = (1920, 1080)
    keep: bool = False

    @property
    def lead(self):
        """Seconds from a program's first picture to the measured window: refinement and caches come to rest."""
        return 1.2 if self.quick else 2.0


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/wayland",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures screenrelay-capture on a Wayland desktop of 1920x1080: mutter without a display or a\n"
        "GPU, the real desktop portal, and PipeWire. It takes turns with GStreamer's pipewiresrc and x264enc on such\n"
        "desktops, and with itself on an X server (Xvfb); all show the same scenes. CPU time is what the kernel\n"
        "counted for all threads of a program while the scene moved. Writes wayland.md and one CSV file a table.",
        epilog="Measured when no part is named: all of them.\n\n"
        "parts:\n"
        "  --cost     CPU time and peak memory at equal quality: quantizer 23 everywhere, nothing is refined.\n"
        "             'gstreamer' encodes 30 pictures a second, as OBS does; the limits compare with it.\n"
        "             'gstreamer-changes' encodes only what the compositor sends; the limit on new pictures compares\n"
        "             with it\n"
        "  --picture  the decoded picture of a page at rest, next to a screenshot of the compositor\n"
        "  --paint    from painting to the host's receipt of the whole picture, next to the same on the X server, and\n"
        "             to a receiver on the desktop that does nothing, whose time isn't counted against the limit\n\n"
        "examples:\n"
        "  Tools/bench/wayland --check                     all of it, about 20 minutes\n"
        "  Tools/bench/wayland --cost --scenes typing      one scene\n"
        "  Tools/bench/wayland --quick                     does every part work?\n\n"
        "Tools/setup --bench installs what is needed. Debian has pipewiresrc in gstreamer1.0-pipewire.\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("--scenes", default=",".join(SCENES), metavar="LIST",
                        help="which of %s; all by default" % ",".join(SCENES))
    parser.add_argument("--runs", type=int, default=None, metavar="N", help="runs of each program and scene (3)")
    parser.add_argument("--seconds", type=float, default=None, metavar="S", help="how long a scene moves (4)")
    for part in PARTS:
        parser.add_argument("--" + part, action="store_true", help="see below")
    parser.add_argument("--out", default="wayland-bench", metavar="DIR", help="where to write (wayland-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--quick", action="store_true",
                        help="one short run of each: proves that all parts work, and measures little")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay-capture and screenrelay-scene are; without it they are built")
    given = parser.parse_args(arguments)
    scenes = given.scenes.split(",")
    for name in scenes:
        if name not in SCENES:
            parser.error("--scenes %s: '%s' is none of %s" % (given.scenes, name, ", ".join(SCENES)))
    if given.runs is not None and given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    if given.seconds is not None and not 1 <= given.seconds <= 60:
        parser.error("--seconds %g: from 1 to 60" % given.seconds)
    return Options(
        scenes=scenes, runs=given.runs or (1 if given.quick else 3),
        seconds=given.seconds or (1.5 if given.quick else 4.0),
        parts=[part for part in PARTS if getattr(given, part)] or PARTS, out=given.out, check=given.check,
        quick=given.quick, programs=given.programs)
