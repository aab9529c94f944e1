"""Two builds of the host at once, so that what else the machine does costs both the same."""

import json
import os
import statistics
import subprocess
import sys

from bench_kit.processes import Failure
from bench_kit.recording import record
from bench_kit.report import table

#: Pairs, of which every other one starts the builds in the other order.
PAIRS = 3


def measure_against(options, folder, say):
    """Prints by how much `options.programs` differs from `options.against`, as the ratio of a packet's CPU time."""
    # Both show the same one.
    options.recording = options.recording or record(
        lambda name: os.path.join(os.path.abspath(options.programs), name), options, folder)
    rows = []
    for number in range(PAIRS):
        builds = {"before": options.against, "after": options.programs}
        found = _pair(options, dict(list(builds.items())[::-1] if number % 2 else builds), folder, number)
        rows.append([found["before"], found["after"], found["after"] / found["before"]])
        say("pair %d: %.2f, %.2f, %.3f" % (number + 1, *rows[-1]))
    print("\n".join(table(["µs per packet, before", "after", "after / before"],
                          [["%.2f" % before, "%.2f" % after, "%.3f" % ratio] for before, after, ratio in rows])))
    print("\n%d viewers of each, on one processor: after / before %.3f, the median." % (
        options.viewers[0], statistics.median(row[2] for row in rows)))


def _pair(options, builds, folder, number):
    """The µs of media for each packet, by the builds' names."""
    started = {}
    try:
        for name, programs in builds.items():
            out = os.path.join(folder, "%s-%d" % (name, number))
            started[name] = (out, subprocess.Popen(
                [sys.executable, "-m", "viewers_bench", *_words(options), "--programs", programs, "--out", out],
                stdout=subprocess.DEVNULL))
        for name, (_, process) in started.items():
            if process.wait(timeout=120 + options.seconds + options.viewers[0] / options.join_rate) != 0:
                raise Failure("the %s build's run has failed" % name)
    finally:
        # Each ends its host and its viewers itself, which a killed one would leave running.
        for _, process in started.values():
            process.terminate()
        for _, process in started.values():
            process.wait(60)
    return {name: _media(out) for name, (out, _) in started.items()}


def _words(options):
    words = ["--viewers", "%d" % options.viewers[0], "--seconds", "%g" % options.seconds, "--feedback",
             options.feedback, "--join-rate", "%d" % options.join_rate, "--recording", options.recording, "--host-core",
             "%d" % options.host_core, "--core", "%d" % options.core]
    return words + ["--no-offer"] * options.no_offer


def _media(out):
    with open(os.path.join(out, "viewers.json")) as file:
        row = json.load(file)["rows"][0]
    if row["whole_percent"] < 99.9:
        raise Failure("%.2f %% of the pictures were whole: too many viewers for two hosts" % row["whole_percent"])
    return row["media_us"]
