"""The five figures. Each function measures one build once; a lower figure is better."""

import dataclasses
import os
import re
import subprocess

from capture_bench import options as capture_options
from capture_bench.bench import Bench as CaptureBench
from capture_bench.processes import Failure
from capture_bench.report import Report
from network_bench.bench import Bench as RoomBench
from scale_bench import course

#: Viewers of the scrolled text whose packets are counted.
VIEWERS = 20
#: Joins of a still screen.
JOINS = 10
#: Sessions that protect packets in turn, for SRTP.
SESSIONS = 1_000


@dataclasses.dataclass
class RoomOptions:
    """What the measurement of viewers wants to know."""
    programs: str
    viewers: list = dataclasses.field(default_factory=lambda: [VIEWERS])
    seconds: float = 5
    size: tuple = (1920, 1080)
    bit_rate: int = 4_000_000
    share: list = dataclasses.field(default_factory=list)
    keep: bool = False


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
    bench = RoomBench(RoomOptions(build.programs), folder)
    [row] = course.measure(bench, "direct", "scroll", folder)
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
