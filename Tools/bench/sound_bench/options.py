"""What was asked for on the command line."""

import argparse
import dataclasses

from capture_bench.options import SIZES, Parser

from . import beeps, clean, first, idle, kill, sync

SCENARIOS = {"sync": sync, "clean": clean, "idle": idle, "kill": kill, "beeps": beeps, "first": first}


@dataclasses.dataclass
class Options:
    scenarios: list
    seconds: float
    hum: bool
    faster: float
    losses: list
    listener: str
    tap: str
    runs: int
    size: tuple
    share: list
    out: str
    check: bool
    programs: str
    keep: bool


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/sound",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures the sound of 'screenrelay share --sound desktop' in headless Chromium. The desktop is\n"
        "an X server and a PulseAudio server of the measurement's own, and all times are on one clock. Nothing is\n"
        "played on this machine's loudspeakers. Writes sound.md and sound.json, and prints the tables.",
        epilog="scenarios (all, if none is named):\n"
        "  sync    a flash and a beep once a second: the offset of sound to picture in the page, and by the time\n"
        "          stamps that an aiortc client gets; how it drifts; and the delay from the sink to the page\n"
        "  clean   a tone of 440 Hz for 20 s: SNR, gaps and clicks of what the page gets; with --loss, also over a\n"
        "          path that loses packets, which needs root\n"
        "  idle    processor time, wake-ups and memory: without --sound, with it while nothing plays, and while a\n"
        "          tone plays, 30 s each\n"
        "  kill    the capture of sound is killed 20 times: how soon sound is back, and whether pictures notice\n"
        "  beeps   20 beeps of a second at PulseAudio's default latency, 4.6 s apart, on a sink that is never\n"
        "          suspended and on one that is: how much of each beginning is missing; needs aiortc\n"
        "  first   beeps over a tone play when the first listener comes: its first ten seconds, with the offset and\n"
        "          the pitch of each; needs aiortc\n\n"
        "examples:\n"
        "  Tools/bench/sound --check                       all of it, about 20 minutes\n"
        "  Tools/bench/sound sync --seconds 60\n"
        "  Tools/bench/sound clean --loss 1,5 --check      as root\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice. What can't be measured without root or aiortc is skipped, and named; aiortc's\n"
        "part then counts as a missed limit.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="sync, clean, idle, kill, beeps or first")
    parser.add_argument("--seconds", type=float, default=600, metavar="S", help="sync: how long (600)")
    parser.add_argument("--hum", action="store_true",
                        help="sync: a quiet tone under the beeps; without it, sound ends between them")
    parser.add_argument("--faster", type=float, default=0, metavar="PPM",
                        help="sync: the clock of the sink runs by so many millionths faster than this machine's (0)")
    parser.add_argument("--listener", choices=["page", "aiortc", "both"], default="both",
                        help="sync: who listens: the room's page, an aiortc client by WHEP, which needs what "
                        "Tools/python installs, or both at once (both)")
    parser.add_argument("--loss", default=None, metavar="LIST",
                        help="clean: also with these percentages of packets lost, as in 1,5")
    parser.add_argument("--tap", choices=["processor", "worklet"], default="processor",
                        help="sync, clean: where the page takes samples: as WebRTC hands them out "
                        "(MediaStreamTrackProcessor), or behind the buffers of Web Audio (AudioWorklet), which may "
                        "run dry by themselves on a busy machine (processor)")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="runs of each, of which medians are told (1)")
    parser.add_argument("--size", choices=["1280x720"] + sorted(SIZES), default="1280x720",
                        help="of the screen (1280x720)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, as in --share=--log=debug; may be repeated")
    parser.add_argument("--out", default="sound-bench", metavar="DIR", help="where to write (sound-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture, screenrelay-sound and screenrelay-scene are; "
                        "without it they are built")
    parser.add_argument("--keep", action="store_true", help="keep logs and everything recorded in --out")
    given = parser.parse_args(arguments)
    for name in given.scenarios:
        if name not in SCENARIOS:
            parser.error("'%s' is none of %s" % (name, ", ".join(SCENARIOS)))
    if not 10 <= given.seconds <= 3600:
        parser.error("--seconds %g: from 10 to 3600" % given.seconds)
    if given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    if not -1000 <= given.faster <= 1000:
        parser.error("--faster %g: from -1000 to 1000" % given.faster)
    return Options(given.scenarios or list(SCENARIOS), given.seconds, given.hum, given.faster,
                   _losses(parser, given.loss), given.listener, given.tap, given.runs,
                   tuple(int(side) for side in given.size.split("x")), given.share, given.out, given.check,
                   given.programs, given.keep)


def _losses(parser, text):
    try:
        losses = [float(word) for word in text.split(",")] if text else []
    except ValueError:
        parser.error("--loss %s: not numbers; write them like 1,5" % text)
    for loss in losses:
        if not 0 < loss <= 90:
            parser.error("--loss %g: above 0, and 90 at most" % loss)
    return losses
