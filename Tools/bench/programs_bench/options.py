"""What was asked for on the command line."""

import argparse

from capture_bench.options import Parser

from .scenes import SCENES


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/programs", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Captures scenes of programs that people share, each on an X server of its own, and prints what\n"
        "viewers see over a link of the given bit rate. Builds take turns. More than half of the scenes are held out:\n"
        "settings are chosen on the others. A frame is painted if something changes in a thirtieth of a second. Ages\n"
        "are what p95 of the time has been painted and not been seen; freezes are counted as Chromium does. PSNR is\n"
        "that of snapshots of the screen in the frames that show them, during motion and a second after it ends.\n"
        "Writes programs.json.\n\n"
        "With --beside webrtcbin, GStreamer's ximagesrc, x264enc and webrtcbin send each scene too, in each run, at\n"
        "the same bit rate, 30 frames a second, to a receiver on this machine. Its PSNR stands in the share's row too;\n"
        "where it is higher with more bytes, it sends the scene again at the share's rate, so that the bytes are the\n"
        "same. Its processor time includes RTP and encryption, which the share's host does.",
        epilog="examples:\n"
        "  Tools/bench/programs --programs before=/tmp/before --programs after=.build/release --runs 3\n"
        "  Tools/bench/programs --beside webrtcbin --runs 2 --seconds 2 --check    all limits, in twenty minutes\n\n"
        "exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing;\n"
        "70 a measurement failed twice.")
    parser.add_argument("--scenes", default="all", metavar="LIST",
                        help="which of %s; or chosen, held-out, all (all)" % ",".join(SCENES))
    parser.add_argument("--programs", action="append", default=[], metavar="[LABEL=]DIR",
                        help="where screenrelay-capture and screenrelay-scene are; without it they are built")
    parser.add_argument("--beside", choices=["webrtcbin"], default=None, help="measure this sender in the same run too")
    parser.add_argument("--runs", type=int, default=1, metavar="N",
                        help="runs of each scene, of which medians are told (1)")
    parser.add_argument("--seconds", type=float, default=5, metavar="S", help="how long is measured (5)")
    parser.add_argument("--bitrate", dest="bit_rate", type=int, default=4_000_000, metavar="BITS", help="(4000000)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--out", default="programs-bench", metavar="DIR", help="where programs.json goes")
    parser.add_argument("--keep", default=None, metavar="DIR", help="keep streams and logs")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="more for screenrelay-capture, after --")
    options = parser.parse_args(arguments)
    halves = {"all": (True, False), "chosen": (False,), "held-out": (True,)}
    if options.scenes in halves:
        names = [name for name, scene in SCENES.items() if scene.is_held_out in halves[options.scenes]]
    else:
        names = options.scenes.split(",")
    for name in names:
        if name not in SCENES:
            parser.error("--scenes %s: '%s' is none of %s" % (options.scenes, name, ", ".join(SCENES)))
    if options.runs < 1:
        parser.error("--runs %d: at least 1" % options.runs)
    if not 1 <= options.seconds <= 60:
        parser.error("--seconds %g: from 1 to 60" % options.seconds)
    if not 100_000 <= options.bit_rate <= 100_000_000:
        parser.error("--bitrate %d: from 100000 to 100000000" % options.bit_rate)
    labels = [one.split("=", 1) if "=" in one else ["ours", one] for one in options.programs]
    if len({label for label, _ in labels}) < len(labels):
        parser.error("--programs: each needs a label of its own, as in before=/tmp/before")
    if options.beside in dict(labels):
        parser.error("--programs: '%s' is the label of what is measured beside" % options.beside)
    options.programs = dict(labels)
    options.scenes = [SCENES[name] for name in names]
    return options
