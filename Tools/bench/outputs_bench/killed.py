"""One run: a share that publishes, a server that is killed and comes back, and URLs that the server refuses."""

import statistics
import threading
import time

from bench_kit.limits import Check, at_most
from bench_kit.processes import Failure, sleep_until, wait_until
from bench_kit.pushing import pushes, share
from bench_kit.report import table

from .servers import SERVERS

#: Seconds for which the server is away.
AWAY = (0, 1, 3)
#: Seconds from the server's being ready again until somebody there has decoded a picture.
LIMIT = 5
#: Seconds that a connection must last to count as a success, by which the tries are counted anew; and some more.
LASTING = 10.5
#: Pictures that have been decoded when a stream is said to flow.
FLOWING = 30
TIMEOUT = 40


def _measure(bench, course_type, folder):
    """Gives the figures of each outage, and what was said of each URL that is refused."""
    scene = bench.scene("scroll")
    course, room = course_type(folder, bench.options.bit_rate), None
    words = ["--push-tries", "3"]
    for url in [course.url] + [url for _, url, _ in course.refused]:
        words += ["--push", url]
    try:
        room = share(bench, words, scene, len(AWAY) * (LASTING + TIMEOUT) + TIMEOUT, folder, bench.options.bit_rate,
                     address=course.address)
        output = Output(room.share)
        room.shown.start()
        course.watching.wait_for("pictures", TIMEOUT, count=FLOWING)
        outages = [_outage(course, room, away) for away in AWAY]
        refused = [{"what": what, "reason": reason, "said": output.trouble(reason)}
                   for what, _, reason in course.refused]
    finally:
        try:
            if room:
                room.close()
        finally:
            course.close()
    return {"outages": outages, "refused": refused}


class Output:
    """The lines of a share's standard output since its link, which it prints before it connects to a server."""

    def __init__(self, process):
        self.lines = []
        self._thread = threading.Thread(target=self._read, args=[process.child.stdout], daemon=True)
        self._thread.start()

    def _read(self, output):
        for line in output:
            self.lines.append(line.decode(errors="replace").strip())

    def trouble(self, reason):
        """The lines about pushes that have this reason, without their times."""
        return [line.split(" ", 1)[1] for line in self.lines if " the push to " in line and reason in line]


def _outage(course, room, away):
    wait_until(lambda: _is_connected(room), TIMEOUT, "the push's connection")
    sleep_until(time.monotonic() + LASTING)
    if not _is_connected(room):
        raise Failure("the push ended by itself")
    course.kill()
    killed = time.monotonic()
    sleep_until(killed + away)
    ready = course.start_again()
    picture = course.watching.wait_for("pictures", TIMEOUT, since=ready)
    course.watching.wait_for("pictures", TIMEOUT, since=ready, count=FLOWING)
    return {"away": away, "from_kill": picture - killed, "from_ready": picture - ready}


def _is_connected(room):
    room.share.require_running()
    return any(one["id"] == 1 and one["state"] == "connected" for one in pushes(room))


class Killed:
    """A part of the benchmark: a share that publishes to such a server."""

    SIZE = (1280, 720)

    def __init__(self, name, course_type):
        self.name, self.course_type, self.missing = name, course_type, course_type.missing

    def measure(self, bench, folder):
        return _measure(bench, self.course_type, folder)

    def tell(self, runs):
        def figures(index, key):
            values = [run["outages"][index][key] for run in runs]
            return "%.1f, %.1f" % (statistics.median(values), max(values))

        lines = table(
            ["away s", "picture after the kill s: median, longest", "after it was ready s: median, longest"],
            [["%g" % away, figures(index, "from_kill"), figures(index, "from_ready")]
             for index, away in enumerate(AWAY)])
        for one in runs[0]["refused"]:
            lines += ["", "With %s, reported %d times in the first run: %s" % (
                one["what"], len(one["said"]), one["said"][0] if one["said"] else one["reason"])]
        return lines

    def checks(self, runs):
        found = []
        for index, away in enumerate(AWAY):
            longest = max(run["outages"][index]["from_ready"] for run in runs)
            found.append(at_most("%s, away for %g s, a picture again" % (self.name, away), longest, LIMIT, "s"))
        for one in (one for run in runs for one in run["refused"]):
            count = sum("has failed: " in line for line in one["said"])
            found.append(Check("%s, %s" % (self.name, one["what"]), "%d lines, %d of them of its end" % (
                len(one["said"]), count), "one line, of its end", len(one["said"]) == count == 1))
        return found


COURSES = {name: Killed(name, course_type) for name, course_type in SERVERS.items()}
