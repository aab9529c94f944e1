"""The command line."""

from bench_kit import options as of

from . import beeps, clean, first, idle, kill, sync

SCENARIOS = {"sync": sync, "clean": clean, "idle": idle, "kill": kill, "beeps": beeps, "first": first}


def parse(arguments):
    parser = of.Parser(
        "sound", """
        Measures the audio of 'screenrelay share --sound desktop' in headless Chromium. The desktop is an X server and a
        PulseAudio server of the measurement's own, and all times are on one clock. Nothing is played on this machine's
        loudspeakers. Writes sound.md and sound.json, and prints the tables.""", [
            of.parts("scenarios", SCENARIOS),
            of.seconds(600, 10, 3600, "sync: how long"),
            of.flag("--hum", "sync: a quiet tone under the beeps; without it, audio ends between them"),
            of.number("--faster", 0, -1000.0, 1000, "PPM",
                      "sync: by how many millionths the clock of the sink is faster than this machine's"),
            of.choice("--listener", ["page", "aiortc", "both"], "both",
                      "sync: the listener: the room's page, an aiortc client over WHEP, which needs what Tools/python "
                      "installs, or both at once"),
            of.numbers("--loss", None, 0.001, 90, "clean: also with these percentages of packets lost", to="losses"),
            of.choice("--tap", ["processor", "worklet"], "processor",
                      "sync, clean: where the page reads samples: from WebRTC (MediaStreamTrackProcessor), or behind "
                      "the buffers of Web Audio (AudioWorklet), which may run empty on a busy machine"),
            of.runs(1), of.size(), of.SHARE, of.out("sound"), of.CHECK,
            of.programs("screenrelay, screenrelay-capture, screenrelay-sound and screenrelay-scene"), of.KEEP],
        notes="""
        scenarios:
          sync    a flash and a beep once per second: the offset of audio to video in the page, and by the time
                  stamps that an aiortc client gets; how it drifts; and the delay from the sink to the page
          clean   a tone of 440 Hz for 20 s: SNR, gaps and clicks of what the page gets; with --loss, also over a
                  path that loses packets, which needs root
          idle    CPU time, wake-ups and memory: without --sound, with it while nothing plays, and while a tone
                  plays, 30 s each
          kill    the audio capture is killed 20 times: how soon audio is back, and whether frames are affected
          beeps   20 beeps of a second at PulseAudio's default latency, 4.6 s apart, on a sink that is never
                  suspended and on one that is: how much of each beginning is missing; needs aiortc
          first   beeps over a tone play when the first listener joins: its first ten seconds, with the offset and
                  the pitch of each; needs aiortc

        What can't be measured without root or aiortc is skipped, and named; aiortc's part then counts as a missed
        limit.""",
        examples=[("--check", "all of it, about 20 minutes"), "sync --seconds 60",
                  ("clean --loss 1,5 --check", "as root")])
    options = parser.parse_args(arguments)
    options.losses = options.losses or []
    return options
