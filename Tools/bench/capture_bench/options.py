"""The command line."""

from bench_kit import options as of
from bench_kit.options import SCENES

PEERS = ["ffmpeg", "gstreamer", "gstreamer-damage", "pixelflux"]
TABLES = {"equal-qp": ["equal-qp"], "product": ["product"], "all": ["equal-qp", "product"]}
PARTS = {"latency": "from capture time to the last NAL unit's arrival",
         "rate": "bytes per second at 500 kbit/s, 1, 2 and 8 Mbit/s",
         "sharpness": "time until the frame is sharp after a scroll",
         "memory": "peak memory of every scene, and by resolution",
         "replay": "how true to its times a recording of a minute is replayed"}
WAYLAND_PARTS = {"cost": "CPU time and peak memory at equal quality", "picture": "the frame of a page at rest",
                 "paint": "from painting to the host's receipt of the whole frame"}
WAYLAND_SCENES = ["idle", "pointer", "typing", "scroll", "full"]
SIZES = ["1920x1080", "3840x2160"]


def parse(arguments):
    parser = of.Parser(
        "capture", """
        Measures screenrelay-capture against ffmpeg x11grab, GStreamer ximagesrc and pixelflux. Each program records
        the same scenes, drawn on an X server of its own (Xvfb); the programs take turns, and on every other run in the
        opposite order. CPU time is what the kernel counted for all threads of a program while the scene moved. Writes
        capture.md and one CSV file a table.

        With --display wayland, it is measured on a Wayland desktop of 1920x1080: mutter without a display or a GPU, the
        real desktop portal, and PipeWire. It takes turns with GStreamer's pipewiresrc and x264enc on such desktops, and
        with itself on an X server; all show the same scenes. Writes wayland.md and one CSV file a table.""", [
            of.choice("--display", ["x11", "wayland"], "x11", "the kind of desktop"),
            of.names("--scenes", SCENES, "which"),
            of.names("--peers", PEERS, "which", groups={"none": []}),
            of.number("--runs", None, 1, 100, "N", "runs of each program and scene (3)"),
            of.seconds(None, 1, 60, "how long a scene moves (4)"),
            of.choice("--size", SIZES, "1920x1080", "of the screen"),
            of.choice("--table", TABLES, None, "see below"),
            *[of.flag("--" + part, text) for part, text in PARTS.items()],
            *[of.flag("--" + part, "Wayland: %s; see below" % text) for part, text in WAYLAND_PARTS.items()],
            of.out("capture"), of.CHECK,
            of.flag("--quick", "one short run of few scenes: proves that all parts work, and measures little"),
            of.programs("screenrelay-capture and screenrelay-scene"),
            of.Option("--hide", "hide this window, which need not exist: what --hide costs screenrelay-capture",
                      "WINDOW"),
            of.flag("--keep", "keep the recorded streams in DIR/streams")],
        notes="""
        Measured if no part is named: both tables and all parts. With one or more of --table, --latency, --rate,
        --sharpness, --memory, --replay: only those. On Wayland, the parts are --cost, --picture and --paint.

        tables:
          equal-qp  QP 23 everywhere and no refinement: the same quality, so that CPU time compares
                    (pixelflux has only CRF: the CRF whose frames in motion are as good as ours)
          product   every program as its users run it: ours with its defaults, the others with CRF 23

        parts on Wayland:
          --cost     quantizer 23 everywhere, nothing is refined. 'gstreamer' encodes 30 frames per second, as OBS
                     does; the limits compare with it. 'gstreamer-changes' encodes only what the compositor sends; the
                     limit on new frames compares with it
          --picture  the decoded frame of a page at rest, next to a screenshot of the compositor
          --paint    next to the same on the X server, and to a receiver on the desktop that does nothing, whose time
                     isn't counted against the limit""",
        examples=[("--check", "all of it, about an hour"),
                  "--table equal-qp --scenes typing,scroll --peers ffmpeg",
                  "--size 3840x2160 --scenes idle,typing,scroll --table all",
                  ("--quick", "a few minutes: does every part work?"),
                  ("--display wayland --check", "all of it, about 20 minutes"),
                  ("--display wayland --cost --scenes typing", "one part, one scene")])
    options = parser.parse_args(arguments)
    is_wayland = options.display == "wayland"
    own, others = (WAYLAND_PARTS, PARTS) if is_wayland else (PARTS, WAYLAND_PARTS)
    options.parts = [part for part in own if getattr(options, part)]
    options.tables = TABLES.get(options.table, [])
    for part in others:
        if getattr(options, part):
            parser.error("--%s: not with --display %s" % (part, options.display))
    if is_wayland and (options.tables or options.hide or options.size != "1920x1080"):
        parser.error("--display wayland: not with --table, --hide and another --size")
    if not options.parts and not options.tables:
        options.parts, options.tables = list(own), [] if is_wayland else TABLES["all"]
    if options.scenes == SCENES:
        options.scenes = WAYLAND_SCENES if is_wayland else SCENES[:4] if options.quick else SCENES
    options.runs = options.runs or (1 if options.quick else 3)
    options.seconds = options.seconds or (1.5 if options.quick else 4.0)
    options.size = tuple(int(side) for side in options.size.split("x"))
    # Seconds from a program's first frame to the measured window, in which refinement and caches come to rest; and how
    # many frames of a run are compared.
    options.lead, options.samples = (1.2, 4) if options.quick else (2.0, 16)
    return options
