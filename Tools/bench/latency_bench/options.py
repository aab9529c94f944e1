"""What was asked for on the command line."""

import dataclasses

from capture_bench.options import SIZES, Parser

BESIDE = ["webrtcbin", "wayland"]
SCENES = ["typing", "scroll", "full", "drag", "video"]


@dataclasses.dataclass
class Options:
    scenes: list
    seconds: float
    runs: int
    size: tuple
    bit_rate: int
    share: list
    beside: str
    out: str
    check: bool
    programs: str
    keep: bool = False


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/latency",
        description="Measures the delay from a shared screen to a browser's on the same machine: from the X server's "
        "painting of a counter until the framebuffer of the X server in which Chromium has its window shows it, both "
        "read from memory twice a millisecond on one clock. Beside it stand what the page itself says, and how long "
        "the stages of a picture's way to the network take: waiting, encoding, link and sending. Writes latency.json. "
        "With --beside webrtcbin, GStreamer's ximagesrc, x264enc and webrtcbin send each scene too, after each run of "
        "the share: the same size and bit rate, the same browser and watcher. No limits apply to it. ximagesrc grabs "
        "30 times a second by its own clock, so that chance adds up to 33 ms to all of a run: take several runs. "
        "With --beside wayland, a share of a Wayland desktop shows each scene too, after each run of the share of the "
        "X display: mutter without a display or a GPU, the real desktop portal, and PipeWire, as in "
        "Tools/bench/wayland. There, a count is painted at the time that the compositor gives its picture. A recording "
        "of the capture link has these times; both shares are recorded for it, which adds a key frame every 10 s. A "
        "bare receiver, GStreamer's pipewiresrc alone, gets the pictures of the same screen cast. Its delay is the "
        "compositor's: the limit is for the delay at p50 without it, against that of the X display.",
        epilog="exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing; "
        "70 a measurement failed twice.")
    parser.add_argument("--scene", default="typing,scroll,full", metavar="LIST",
                        help="which of %s (typing,scroll,full)" % ",".join(SCENES))
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="how long a scene counts (20)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each, of which medians are told (3)")
    parser.add_argument("--size", choices=["640x360", "1280x720"] + sorted(SIZES), default="1920x1080",
                        help="of both screens")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, as in --share=--chroma=444; may be repeated")
    parser.add_argument("--beside", choices=BESIDE, default=None,
                        help="measure this sender, or a share of this kind of desktop, in the same run too")
    parser.add_argument("--out", default="latency-bench", metavar="DIR", help="where to write (latency-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    given = parser.parse_args(arguments)
    scenes = given.scene.split(",")
    for name in scenes:
        if name not in SCENES:
            parser.error("--scene %s: '%s' is none of %s" % (given.scene, name, ", ".join(SCENES)))
    if not 1 <= given.seconds <= 600:
        parser.error("--seconds %g: from 1 to 600" % given.seconds)
    if given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    return Options(scenes, given.seconds, given.runs, tuple(int(side) for side in given.size.split("x")), given.bitrate,
                   given.share, given.beside, given.out, given.check, given.programs)
