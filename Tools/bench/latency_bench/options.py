"""The command line."""

from bench_kit import options as of

BESIDE = ["webrtcbin", "wayland"]
SCENES = ["typing", "scroll", "full", "drag", "video"]


def parse(arguments):
    return of.Parser(
        "latency", """
        Measures the delay from a shared screen to a browser's on the same machine: from the X server's painting of a
        counter until the framebuffer of the X server in which Chromium has its window shows it, both read from memory
        twice per millisecond on one clock. Beside it are the page's own figure, and the time of each stage of a frame's
        way to the network: waiting, encoding, link and sending. Writes latency.json.

        With --beside webrtcbin, GStreamer's ximagesrc, x264enc and webrtcbin send each scene too, after each run of the
        share: the same size and bit rate, the same browser and watcher. No limits apply to it. ximagesrc grabs 30 times
        per second by its own clock, so that chance adds up to 33 ms to all of a run: use several runs.

        With --beside wayland, a share of a Wayland desktop shows each scene too, after each run of the share of the X
        display: mutter without a display or a GPU, the real desktop portal, and PipeWire, as in Tools/bench/capture
        --display wayland. There, a count is painted at the time that the compositor gives its frame. A recording of
        the capture link has these times; both shares are recorded for it, which adds a key frame every 10 s. A bare
        receiver, GStreamer's pipewiresrc alone, gets the frames of the same screen cast. Its delay is the
        compositor's: the limit is for the delay at p50 without it, against that of the X display.""", [
            of.names("--scene", SCENES, "which", "typing,scroll,full", to="scenes"),
            of.seconds(20, 1, 600, "how long a scene counts"), of.runs(3), of.size("1920x1080", "of both screens"),
            of.bit_rate(), of.SHARE,
            of.choice("--beside", BESIDE, None, "measure this sender, or a share of this kind of desktop, in the same "
                      "run too"),
            of.out("latency"), of.CHECK, of.programs(), of.KEEP],
        notes="""
        other measurements, with options of their own (--help):
          Tools/bench/latency view      `screenrelay view` beside Chromium: delay, frames, freezes, CPU time, memory
          Tools/bench/latency pointing  from a viewer's pointer to the dot on the sharer's screen, and what that costs
        """).parse_args(arguments)
