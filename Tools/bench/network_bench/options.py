"""The command line."""

from bench_kit import options as of

from .scenarios import ALL

SCENES = ["typing", "scroll", "drag", "video", "full", "flick", "idle"]


def parse(arguments):
    parser = of.Parser(
        "network", """
        Measures what viewers see of a shared screen over narrow, lossy and slow networks. The host, and headless
        Chromium as each viewer, run in network namespaces of their own; between them are TUN devices and a forwarder,
        which has the rate, queue, loss, delay, jitter, reordering and duplicates of the scenario, from one seed. Delays
        are from the scene's tick to the page's presentation of its frame, read from the frame's pixels on one clock.
        Writes network.md and network.json, and prints the tables.""", [
            of.parts("scenarios", ALL),
            of.names("--scene", SCENES, "which; by default, the scenario's own", is_all=False, to="scenes"),
            of.seconds(None, 1, 3600, "length of a phase (steps 20, others 60); for first-picture, how often the page "
                       "is opened"),
            of.number("--lead", 5, 1.0, 600, "S", "how long the scene moves before the first phase"),
            of.runs(3),
            of.numbers("--queue", "100,300,1000", 1, 60_000, "steps: the longest wait in the narrow hop, in ms",
                       to="queues"),
            of.number("--low", 500, 10.0, 1e6, "KBITS", "the narrow link, in kbit/s"),
            of.number("--high", 4000, 10.0, 1e6, "KBITS", "steps: the link before and after, in kbit/s"),
            of.numbers("--loss", "1,5,10,20", 0, 90, "loss: percent", to="losses"),
            of.RTT,
            of.numbers("--rtts", "0,40,100", 0, 10_000, "first-picture: round trips in ms", to="round_trips"),
            of.number("--narrow", 1, 1, 100, "N", "viewers on the scenario's path"),
            of.number("--clean", 1, 0, 100, "N", "viewers beside them with only the same delay, if there are any"),
            of.bit_rate(None, "the limit of the share (4M; 2M for loss, burst, duplicates, reorder, jitter)"),
            of.SHARE, of.size(), of.seed(), of.out("network"), of.CHECK,
            of.flag("--check-path", "measure only the paths, without a host"),
            of.flag("--list", "print what would be measured, and how long it takes"),
            of.programs(), of.KEEP],
        notes="scenarios:\n" + "".join("  %-14s %s\n" % (one.name, one.summary) for one in ALL.values()) + """
With more than four viewers, all but the first of each kind decode their frames and don't draw them: a tenth of a
processor each at 1280x720. The report has the machine's load; near 100 % it measures itself.

Debian 12 has GStreamer's webrtcbin, but not rtpgccbwe (it is in gst-plugins-rs, which isn't packaged), so there is no
sender with congestion control to compare with.""",
        examples=[("steps --scene scroll --queue 300 --runs 1", "about 95 s"),
                  "steps --low 300 --narrow 5 --clean 10",
                  ("loss --seconds 300 --check", "five minutes for each share of loss"),
                  "loss --scene typing --loss 5",
                  ("--check-path", "are the paths as they should be?")],
        codes={1: "a limit is missed (--check) or a path is not as asked (--check-path)", **of.NEEDS_ROOT})
    return parser.parse_args(arguments)
