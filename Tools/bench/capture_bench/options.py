"""The command line."""

import argparse
import dataclasses

SCENES = ["idle", "pointer", "typing", "scroll", "drag", "video", "full"]
PEERS = ["ffmpeg", "gstreamer", "gstreamer-damage", "pixelflux"]
PARTS = ["latency", "rate", "sharpness", "text", "still", "memory"]
SIZES = {"1920x1080": (1920, 1080), "3840x2160": (3840, 2160)}


@dataclasses.dataclass
class Options:
    scenes: list
    peers: list
    runs: int
    seconds: float
    size: tuple
    tables: list
    parts: set
    out: str
    check: bool
    quick: bool
    programs: str
    keep: bool
    hide: str

    @property
    def lead(self):
        """Seconds from a program's first picture to the measured window: refinement and caches come to rest."""
        return 1.2 if self.quick else 2.0

    @property
    def samples(self):
        """Pictures of a run whose quality is measured."""
        return 4 if self.quick else 16


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """As sysexits has it, and in one line."""
        self.exit(64, "%s: %s; see --help\n" % (self.prog, message))


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/capture",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures screenrelay-capture against ffmpeg x11grab, GStreamer ximagesrc and pixelflux.\n"
        "Each program records the same scenes, drawn on an X server of its own (Xvfb); the programs take turns,\n"
        "and on every other run in the opposite order. CPU time is what the kernel counted for all threads of a\n"
        "program while the scene moved. Writes capture.md, one CSV file a table, and capture.svg.",
        epilog="Measured when no part is named: both tables, latency, rate, sharpness, text, still and memory.\n"
        "With one or more of --table, --latency, --rate, --sharpness, --text, --still, --memory: those alone.\n\n"
        "tables:\n"
        "  equal-qp  QP 23 everywhere and no refinement: the same quality, so that CPU time compares\n"
        "            (pixelflux has CRF alone: the CRF whose pictures in motion are as good as ours)\n"
        "  product   every program as its users run it: ours by its defaults, the others by CRF 23\n\n"
        "examples:\n"
        "  Tools/bench/capture --check                     all of it, about an hour; 1 as exit code where a limit is missed\n"
        "  Tools/bench/capture --table equal-qp --scenes typing,scroll --peers ffmpeg\n"
        "  Tools/bench/capture --size 3840x2160 --scenes idle,typing,scroll --table all\n"
        "  Tools/bench/capture --quick                     a few minutes: does every part work?\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("--scenes", default=None, metavar="LIST",
                        help="which of %s; all by default" % ",".join(SCENES))
    parser.add_argument("--peers", default=None, metavar="LIST",
                        help="which of %s, or none; all by default" % ",".join(PEERS))
    parser.add_argument("--runs", type=int, default=None, metavar="N", help="runs of each program and scene (3)")
    parser.add_argument("--seconds", type=float, default=None, metavar="S", help="how long a scene moves (4)")
    parser.add_argument("--size", choices=sorted(SIZES), default="1920x1080", help="of the screen (1920x1080)")
    parser.add_argument("--table", choices=["equal-qp", "product", "all"], default=None, help="see below")
    parser.add_argument("--latency", action="store_true", help="from capture time to the last NAL unit's arrival")
    parser.add_argument("--rate", action="store_true", help="bytes of each second at 500 kbit/s, 1, 2 and 8 Mbit/s")
    parser.add_argument("--sharpness", action="store_true", help="time until the picture is sharp after a scroll")
    parser.add_argument("--text", action="store_true", help="share of words that tesseract reads right")
    parser.add_argument("--still", "--still-beside-video", action="store_true",
                        help="how much still text changes beside a film")
    parser.add_argument("--memory", action="store_true", help="peak memory of every scene, and by resolution")
    parser.add_argument("--out", default="capture-bench", metavar="DIR", help="where to write (capture-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--quick", action="store_true",
                        help="one short run of few scenes: proves that all parts work, and measures little")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay-capture and screenrelay-scene are; without it they are built")
    parser.add_argument("--hide", default=None, metavar="WINDOW",
                        help="hide this window, which need not exist: what --hide costs screenrelay-capture")
    parser.add_argument("--keep", action="store_true", help="keep the recorded streams in DIR/streams")
    given = parser.parse_args(arguments)

    def chosen(name, text, known, default):
        if text is None:
            return list(default)
        names = [] if text == "none" else text.split(",")
        for one in names:
            if one not in known:
                parser.error("--%s %s: '%s' is none of %s" % (name, text, one, ", ".join(known)))
        return names

    parts = {part for part in PARTS if getattr(given, part)}
    tables = {"all": ["equal-qp", "product"], None: []}.get(given.table, [given.table])
    if not parts and not tables:
        parts, tables = set(PARTS), ["equal-qp", "product"]
    if given.runs is not None and given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    if given.seconds is not None and not 1 <= given.seconds <= 60:
        parser.error("--seconds %g: from 1 to 60" % given.seconds)
    scenes = ["idle", "pointer", "typing", "scroll"] if given.quick else SCENES
    return Options(
        scenes=chosen("scenes", given.scenes, SCENES, scenes),
        peers=chosen("peers", given.peers, PEERS, PEERS),
        runs=given.runs or (1 if given.quick else 3),
        seconds=given.seconds or (1.5 if given.quick else 4.0),
        size=SIZES[given.size], tables=tables, parts=parts, out=given.out, check=given.check, quick=given.quick,
        programs=given.programs, keep=given.keep, hide=given.hide)
