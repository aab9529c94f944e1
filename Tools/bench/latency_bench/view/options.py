"""The command line."""

from bench_kit import options as of

#: Those that change all the time, so that a gap is a freeze.
SCENES = ["scroll", "full", "drag", "video"]
#: Eight phases of so many seconds end before the counter of 16 bits begins again.
LONGEST = 200
#: The server that needs no other one: the host itself.
HOST = "screenrelay"


def parse(arguments):
    parser = of.Parser(
        "latency view", """
        Measures `screenrelay view` beside Chromium, both viewers of one share at the same time. Each has an X server of
        its own and is at the end of an emulated path of its own; both paths do the same, from the same seed: no loss,
        random loss, and a link that becomes narrow and wide again. Delays are from the X server's painting of a counter
        until the framebuffer of the viewer's X server shows it, read from memory twice per millisecond on one clock.
        Writes view.json, and prints the table.

        With --server janus or aiortc, both watch at that server instead, on this machine: view over WHEP, and Chromium
        in a page that has only a video, over WHEP at aiortc, and by answering Janus' offer. Delays, frames and CPU time
        are measured in the same way, in one phase without emulated paths, and without root.""", [
            of.choice("--scene", SCENES, "scroll", "what is shared"),
            of.seconds(10, 5, LONGEST, "length of a phase"),
            of.number("--lead", 4, 1.0, 60, "S", "how long the scene moves before the first phase"), of.runs(2),
            of.numbers("--loss", "2,5", 0.001, 90, "percent of the packets to the viewers that are lost", to="losses"),
            of.number("--low", 500, 10.0, 1e6, "KBITS", "the narrow link, in kbit/s"),
            of.number("--high", 4000, 10.0, 1e6, "KBITS", "the link before and after, in kbit/s"),
            of.number("--queue", 300, 1.0, 60_000, "MS", "the longest wait in the narrow hop"), of.RTT,
            of.bit_rate(), of.SHARE, of.size(help="of all screens"), of.seed("of the losses"),
            of.choice("--server", [HOST, "janus", "aiortc"], HOST,
                      "where both watch: Tools/setup --bench unpacks Janus, and Tools/python installs aiortc; --loss, "
                      "--low, --high, --queue, --rtt and --seed have no effect there"),
            of.out("view"), of.CHECK, of.programs(), of.KEEP],
        examples=[("--check", "all of it, about 3 minutes"), ("--seconds 30 --runs 3", "longer phases"),
                  ("--loss 1,10 --high 8000", "other paths"),
                  ("--server janus --check", "both at a Janus instead, about 1 minute"),
                  ("--server aiortc --scene full", "both at a server by aiortc")],
        codes=of.NEEDS_ROOT)
    options = parser.parse_args(arguments)
    if not len(options.losses) == len(set(options.losses)) <= 4:
        parser.error("--loss: at most four, which differ")
    return options
