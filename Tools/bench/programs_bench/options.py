"""The command line."""

from bench_kit import options as of

from .scenes import SCENES


def parse(arguments):
    groups = {kind: [name for name, scene in SCENES.items() if scene.is_held_out in halves]
              for kind, halves in (("chosen", (False,)), ("held-out", (True,)), ("all", (True, False)))}
    parser = of.Parser(
        "programs", """
        Captures scenes of programs that people share, each on an X server of its own, and prints what viewers see over
        a link of the given bit rate. Builds take turns. More than half of the scenes are held out: settings are chosen
        on the others. A frame is painted if something changes in a thirtieth of a second. Ages are what p95 of the time
        has been painted and not been seen; freezes are counted as Chromium does. PSNR is that of snapshots of the
        screen in the frames that show them, during motion and a second after it ends. Writes programs.json.

        With --beside webrtcbin, GStreamer's ximagesrc, x264enc and webrtcbin send each scene too, in each run, at the
        same bit rate, 30 frames per second, to a receiver on this machine. Its PSNR is in the share's row too; where it
        is higher with more bytes, it sends the scene again at the share's rate, so that the bytes are the same. Its
        CPU time includes RTP and encryption, which the share's host does.""", [
            of.names("--scenes", list(SCENES), "which", "all", groups=groups),
            of.Option("--programs", "where screenrelay-capture and screenrelay-scene are; without it they are built",
                      "[LABEL=]DIR", is_many=True),
            of.choice("--beside", ["webrtcbin"], None, "measure this sender in the same run too"),
            of.runs(1), of.seconds(5, 1, 60, "how long is measured"), of.bit_rate(), of.CHECK, of.out("programs"),
            of.Option("--keep", "keep streams and logs", "DIR"),
            of.Option("arguments", "more for screenrelay-capture, after --", "ARGUMENT", is_many=True)],
        examples=["--programs before=/tmp/before --programs after=.build/release --runs 3",
                  ("--beside webrtcbin --runs 2 --seconds 2 --check", "all limits, in twenty minutes")])
    options = parser.parse_args(arguments)
    labels = [one.split("=", 1) if "=" in one else ["ours", one] for one in options.programs]
    if len({label for label, _ in labels}) < len(labels):
        parser.error("--programs: each needs a label of its own, for example before=/tmp/before")
    if options.beside in dict(labels):
        parser.error("--programs: '%s' is the label of what is measured beside" % options.beside)
    options.programs = dict(labels)
    options.scenes = [SCENES[name] for name in options.scenes]
    return options
