"""view at another server over WHEP: a room of Janus, to which a host pushes a recording of a scrolled text."""

import json
import os
import shutil
import subprocess
import types

from capture_bench.processes import Failure, Missing
from capture_bench.report import table
from publish_bench import client, janus
from viewers_bench.beside import Janus
from viewers_bench.recording import environment, record

from .figures import of_seconds

#: Seconds of the recording, which is played over and over, and those that view may take besides its playing.
LENGTH, AROUND = 9, 30
COLUMNS = ["server", "seconds", "frames", "frames/s", "seconds without frames", "lost packets", "freezes", "size"]


def require():
    """Ends with a Missing if something that is needed isn't there."""
    problem = client.missing() or janus.missing()
    if not problem and not shutil.which("taskset"):
        problem = "taskset is missing; it is in the package util-linux"
    if not problem and len(os.sched_getaffinity(0)) < 2:
        problem = "two processors are needed"
    if problem:
        raise Missing(problem)


def measure(bench, folder):
    """Plays the room once, and gives the figures."""
    options, (first, *_, last) = bench.options, sorted(os.sched_getaffinity(0))
    # Janus has one processor, and the host the other one.
    own = types.SimpleNamespace(size=options.size, bit_rate=options.bit_rate, length=LENGTH, by="whep",
                                host_core=first, core=last)
    recorded, played = (os.path.join(folder, name) for name in ("r", "p"))
    for one in (recorded, played):
        os.makedirs(one)
    server = Janus(bench.program, record(bench.program, own, recorded), own, played)
    try:
        seconds = round(options.seconds)
        result = subprocess.run(
            [bench.program("screenrelay"), "view", "--no-window", "--stats", "json", "--seconds", str(seconds),
             server.link],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + AROUND,
            env=dict(os.environ, **environment(folder)))
        server.require_running()
    finally:
        server.close()
    if result.returncode != 0:
        raise Failure("view ended with %d: %s" % (result.returncode, result.stderr.strip()[-400:]))
    figures = of_seconds([json.loads(line) for line in result.stdout.splitlines()])
    if not figures:
        raise Failure("view reported no frame")
    return figures


def lines(name, figures):
    return table(COLUMNS, [[name, "%d" % figures["seconds"], "%d" % figures["frames"],
                            "%.1f" % figures["frames_per_second"], "%d" % figures["empty_seconds"],
                            "%d" % figures["lost_packets"], "%d" % figures["freezes"],
                            "%sx%s" % (figures["width"], figures["height"])]])
