"""The command line."""

from bench_kit import options as of

from . import paths, streams
from .disturbances import ALL as DISTURBANCES
from .limits import COMPARED

PROGRAMS = ["screenrelay", "screenrelay-capture", "screenrelay-scene", "bench-viewers"]


def parse(arguments):
    parser = of.Parser(
        "viewers", """
        Shows a recording of a scrolled text to more and more viewers, all in one process, and prints the host's CPU
        time for each packet, what the viewers get, and the least that sending can cost on this machine, measured in the
        same run. The host has one processor, and everything else another one.

        With --scenes, a share of each scene stands in for the recording: the CPU time per second of the host and of the
        capture, and memory, with each number of viewers, what a further one costs, and what a join costs and takes.""", [
            of.numbers("--viewers", None, 1, 100_000, "how many (1,10,100,500,1000; with --disturb 500, with "
                       "--against 400, with --scenes 1,10,30,100)", int),
            of.names("--scenes", of.SCENES, "share these live instead", is_all=False),
            of.seconds(10, 1, 600, "how long each number counts, or each phase without disturbance"),
            of.names("--disturb", list(DISTURBANCES), "disturb a quiet host instead; see below", is_all=False,
                     groups={"all": DISTURBANCES}),
            of.number("--disturb-seconds", None, 1.0, 600, "S", "how long each disturbance takes (10; joins 60)"),
            of.CHECK,
            of.choice("--by", ["whep", *streams.THREADS], "whep", "how viewers get the video: over WebRTC with WHEP, "
                      "as RTSP players over TCP, or over a WebSocket"),
            of.choice("--feedback", ["all", "reports", "none"], "all",
                      "what viewers report: all that Chromium does, only receiver reports, or none"),
            of.flag("--no-offer", "viewers offer no transport-wide feedback"),
            of.flag("--false-reports", "the receiver reports of one viewer always name the sequence number 0"),
            of.Option("--path", "an emulated path to the viewers: loss=5%, rate=300k, or both with a comma; with a "
                      "number, for example 1:loss=10%, to so many viewers, which have a row each and may also be "
                      "stalled or gone; may be repeated", "PATH", is_many=True, to="paths"),
            of.number("--join-rate", 50, 1, 10_000, "N", "joins per second"),
            of.Option("--recording", "show this recording; without it, one of a scrolled text is made", "FILE"),
            of.number("--length", 9, 1.0, 600, "S", "the length of the recording that is made"),
            of.size(None, "its size (640x360; with --scenes 1920x1080)"),
            of.bit_rate(None, "its bit rate (600k; with --scenes 4M)"), of.SHARE,
            of.number("--host-core", 0, 0, 1023, "N", "the host's processor"),
            of.number("--core", 1, 0, 1023, "N", "the processor of everything else"),
            of.flag("--janus", "also have the host push to a Janus in its place, show it to as many viewers there, and "
                    "compare; Tools/setup --bench unpacks Janus"),
            of.number("--threads", None, 3, 8, "N", "also a host with so many media threads on the same processor, and "
                      "by how much more they would carry on their own"),
            of.Option("--against", "instead, by how much a packet of --programs differs from one of the programs in "
                      "DIR: both hosts share the processor, with so many viewers each (400), three times", "DIR"),
            of.programs(", ".join(PROGRAMS)), of.out("viewers"), of.KEEP],
        notes="""
        disturbances, each with its phases before, during and after:
          busy    another program takes half of the host's processor for 10 s
          joins   20 further joins per second for 60 s; each of these viewers leaves after 5 s
          hellos  1,000 peers in 10 s that send a DTLS ClientHello, and then stop
          checks  20,000 ICE checks with wrong passwords per second, from 250 ports, for 10 s""")
    given = parser.parse_args(arguments)
    given.disturb = given.disturb or []
    given.size = given.size or ((1920, 1080) if given.scenes else (640, 360))
    given.bit_rate = given.bit_rate or (4_000_000 if given.scenes else 600_000)
    given.viewers = given.viewers or (
        [1, 10, 30, 100] if given.scenes else [500] if given.disturb else [400] if given.against
        else [1, 10, 100, 500, 1000])
    is_plain = given.by == "whep" and not (given.disturb or given.janus or given.paths or given.scenes)
    # What can't be asked for together: whether it is, and why not.
    for is_wrong, text in (
            (given.by != "whep" and (given.feedback != "all" or given.no_offer or given.janus or given.paths),
             "--by %s: --feedback, --no-offer, --janus and --path are for whep" % given.by),
            (given.threads and (len(given.viewers) != 1 or not is_plain),
             "--threads %s: with one number of viewers and nothing else" % given.threads),
            (given.against and (not given.programs or len(given.viewers) != 1 or not is_plain or given.threads),
             "--against %s: with --programs and one number of viewers, and nothing else" % given.against),
            (given.scenes and (given.by != "whep" or given.disturb or given.paths or given.recording
                               or given.viewers != sorted(set(given.viewers))),
             "--scenes: with --viewers that rise, and without --by, --disturb, --path and --recording"),
            (given.share and not given.scenes, "--share: only with --scenes"),
            (given.host_core == given.core,
             "--host-core %d and --core %d: two processors are needed" % (given.host_core, given.core)),
            (given.disturb and len(given.viewers) != 1, "--disturb: with one number of viewers"),
            (given.paths and (given.disturb or given.janus), "--path: not with --disturb and --janus"),
            (given.disturb and given.by != "whep", "--by %s: not with --disturb" % given.by),
            (not given.disturb and given.disturb_seconds is not None, "--disturb-seconds: only with --disturb"),
            (given.check and (given.by != "whep" or given.paths or given.against),
             "--check: not with --by, --path and --against, which have no limits"),
            (given.check and given.janus and not given.disturb and not given.scenes and COMPARED not in given.viewers,
             "--check --janus: %d viewers have the limit; name them in --viewers" % COMPARED),
            # A host ends the sessions that wrong checks name after 30 s.
            ("checks" in given.disturb and (given.disturb_seconds or 0) > 25,
             "--disturb-seconds %s: at most 25 with checks" % given.disturb_seconds)):
        if is_wrong:
            parser.error(text)
    problem = paths.problem(given.paths, given.viewers)
    if problem:
        parser.error(problem)
    return given
