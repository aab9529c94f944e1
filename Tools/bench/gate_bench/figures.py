"""The five figures. Each function measures one build once; a lower figure is better."""

import dataclasses
import os
import re
import subprocess

from bench_kit.processes import Failure
from bench_kit.report import Report
from capture_bench import options as capture_options
from capture_bench.bench import Bench as CaptureBench
from viewers_bench import live, options as viewer_options
from viewers_bench.bench import Bench as ViewersBench

#: Viewers of the scrolled text whose packets are counted.
VIEWERS = 20
#: Joins of a still screen.
JOINS = 10
#: Sessions that protect packets in turn, for SRTP.
SESSIONS = 1_000


def typing(build, folder):
    return capture(build, folder, "typing")


def scroll(build, folder):
    return capture(build, folder, "scroll")


def capture(build, folder, scene):
    """Milliseconds of CPU time of screenrelay-capture per second."""
    options = capture_options.parse(["--programs", build.programs, "--peers", "none", "--latency", "--seconds", "5"])
    bench = CaptureBench(options, Report(folder), folder)
    return bench.record(bench.ours, bench.scene(scene), options.seconds).cpu


def packets(build, folder):
    """Microseconds of CPU time of the media thread for a packet to one of many viewers."""
    options = viewer_options.parse([
        "--programs", build.programs, "--scenes", "scroll", "--viewers", str(VIEWERS), "--seconds", "5"])
    processors = os.sched_getaffinity(0)
    try:
        row = live.measure(ViewersBench(options, folder), folder, "scroll", VIEWERS, False)
    finally:
        # The bench has kept to one of them.
        os.sched_setaffinity(0, processors)
    # Milliseconds per second by packets per second.
    return 1000 * row["media"] / (row["packets_each"] * VIEWERS)


def join(build, folder):
    """Milliseconds from a page's open WebSocket to its first picture, the median of some joins."""
    text = output(build, "bench-join", "--joins", str(JOINS), "--programs", build.programs)
    return number(r"WebSocket open to first picture: +median ([0-9.]+) ms", text)


def srtp(build, folder):
    """Nanoseconds of CPU time in which a packet is encrypted with AES-GCM."""
    text = output(build, "bench-srtp", "--rounds", "10")
    return number(r"GCM\n.*?\n +%d +([0-9]+) " % SESSIONS, text)


def output(build, program, *arguments):
    """What a program prints."""
    result = subprocess.run([os.path.join(build.programs, program), *arguments], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=180)
    if result.returncode != 0:
        raise Failure("%s ended with %d: %s" % (program, result.returncode, result.stderr.strip()[-400:]))
    return result.stdout


def number(pattern, text):
    found = re.search(pattern, text, re.DOTALL)
    if not found:
        raise Failure("no figure in: " + text[-400:])
    return float(found.group(1))


@dataclasses.dataclass
class Figure:
    title: str
    unit: str
    measure: callable


FIGURES = {
    "typing": Figure("capture, typing", "ms of CPU time per second", typing),
    "scroll": Figure("capture, a scrolled text", "ms of CPU time per second", scroll),
    "packets": Figure("media thread, %d viewers" % VIEWERS, "µs of CPU time per packet", packets),
    "join": Figure("join, to the first picture", "ms", join),
    "srtp": Figure("SRTP, AES-GCM, %d sessions" % SESSIONS, "ns of CPU time per packet", srtp),
}
