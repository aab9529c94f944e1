"""One run: a scene, and more and more receivers of it, at the host itself or at a Janus to which it publishes."""

import time
from urllib.parse import quote

from capture_bench.processes import Failure, thread_times
from network_bench.room import busy_time
from outputs_bench.share import share, sleep_until, wait_until_connected
from publish_bench import janus
from publish_bench.client import Client

#: Seconds until the receivers' start is over: bursts, probes for bandwidth, refreshes.
SETTLING = 4
#: Seconds that one receiver may take to join, and within which a server or the last receiver's picture must be there.
JOIN, START = 0.2, 45


class Course:
    """What is the same for both ways; ends what it has started in the opposite order."""

    def __init__(self, bench, scene, folder):
        self.bench, self.folder, self.started = bench, folder, []
        self.scene, options = bench.scene(scene), bench.options
        self.seconds = sum(SETTLING + options.seconds + count * JOIN + START for count in options.viewers) + START

    def begin(self, words, address=None):
        room = share(self.bench, words, self.scene, self.seconds, self.folder, self.bench.options.bit_rate,
                     address=address)
        self.started.append(room)
        return room

    def close(self):
        for one in reversed(self.started):
            one.close()


class Direct(Course):
    """All watch the host, by WHEP."""

    title = "Viewers at the host"
    door = "whep"

    def __init__(self, bench, scene, folder):
        super().__init__(bench, scene, folder)
        try:
            self.room = self.begin([])
            self.crowd = Client("receivers", [
                "-m", "scale_bench.receivers", "127.0.0.1", self.door, self.room.printed_link], folder)
            self.started.append(self.crowd)
        except BaseException:
            self.close()
            raise

    server = None


class Reporting(Direct):
    """The same without transport-wide feedback: they send receiver reports, one of them false ones."""

    title = "Viewers at the host that send only receiver reports"
    door = "whep-reports"


class Server(Course):
    """The host publishes to a Janus, and all watch there."""

    title = "Viewers at a Janus to which the host publishes"

    def __init__(self, bench, scene, folder):
        super().__init__(bench, scene, folder)
        try:
            self.server, token = janus.Janus(folder, bench.options.bit_rate), janus.token()
            self.started.append(self.server)
            self.server.start()
            self.server.wait_until_ready(START)
            place = "127.0.0.1:%d" % self.server.port
            self.room = self.begin(["--push", "janus:ws://%s@%s#%d,%s" % (
                quote(token, safe=""), place, janus.ROOM, janus.PIN)], janus.own_address())
            wait_until_connected(self.room, 1)
            self.crowd = Client("receivers", [
                "-m", "scale_bench.receivers", janus.own_address(), "janus", "ws://" + place, str(janus.ROOM),
                janus.PIN, token], folder)
            self.started.append(self.crowd)
        except BaseException:
            self.close()
            raise


WAYS = {"direct": Direct, "reports": Reporting, "janus": Server}


def measure(bench, way, scene, folder):
    """Gives a row for each number of viewers."""
    course = WAYS[way](bench, scene, folder)
    try:
        course.crowd.wait_for("ready", START)
        course.room.shown.start()
        rows, present = [], 0
        for count in bench.options.viewers:
            before, begun = _look(course), time.monotonic()
            joined = course.crowd.ask("join %d" % (count - present), START + JOIN * count)
            after, took = _look(course), time.monotonic() - begun
            new, present = count - present, count
            joining = _difference(before, after)
            sleep_until(time.monotonic() + SETTLING)
            rows.append({"viewers": count, "new": new, **_window(course, bench.options.seconds, count),
                         "joining_host": joining["host"] / new, "joining_server": joining["server"] / new,
                         "join_s": took,
                         "connected_ms": joined["connected"], "first_ms": joined["first"]})
        return rows
    finally:
        course.close()


def _window(course, seconds, count):
    """What all of it takes for so many seconds."""
    first, before, busy = course.crowd.ask("tell", 10), _look(course), busy_time()
    begun, narrow, faults = time.monotonic(), 0, 0
    while time.monotonic() < begun + seconds:
        sleep_until(min(begun + seconds, time.monotonic() + 5))
        rungs, faults = _rungs(course)
        narrow = max(narrow, rungs)
    after, busy_after, second = _look(course), busy_time(), course.crowd.ask("tell", 10)
    length = time.monotonic() - begun
    used = {name: value / length for name, value in _difference(before, after).items()}
    octets = [now - then for then, now in zip(first["octets"], second["octets"])]
    if min(octets) == 0:
        raise Failure("a receiver got nothing")
    frames = sorted(now - then for then, now in zip(first["frames"], second["frames"]))
    return {**used, "frames_most": frames[-1], "frames_least": frames[0], "narrow": narrow, "faults": faults, "memory": _memory(course.room.share.pid),
            "server_memory": _memory(course.server.process.pid) if course.server else 0,
            "kbit_each": sum(octets) * 8 / 1000 / length / count, "kbit_least": min(octets) * 8 / 1000 / length,
            "packets_each": (second["packets"] - first["packets"]) / length / count,
            "missing": second["missing"] - first["missing"], "late_ms": second["late_ms"],
            "busy": (busy_after[0] - busy[0]) / max(1, busy_after[1] - busy[1])}


def _rungs(course):
    """How many viewers get the low-rate rendition now, and how many send reports that the host ignores."""
    paths = [path for room in (course.room.ask("rooms") or {}).get("rooms", [])
             for member in room["members"] for path in member.get("paths", [])]
    return sum(one["rung"] == "narrow" for one in paths), sum("reportFault" in one for one in paths)


def _look(course):
    """Nanoseconds of processor time so far."""
    times = course.room.processor_times()
    server = sum(thread_times(course.server.process.pid).values()) if course.server else 0
    return {"host": times["host"], "server": server, "capture": times["capture"],
            "media": _threads_time(course.room.share.pid, "media"),
            "crowd": sum(thread_times(course.crowd.process.pid).values())}


def _difference(before, after):
    """Milliseconds between two looks."""
    return {name: (after[name] - before[name]) / 1e6 for name in before}


def _threads_time(pid, name):
    """The CPU time of all threads of this name."""
    times = thread_times(pid)
    found = []
    for task in times:
        try:
            with open("/proc/%d/task/%s/comm" % (pid, task)) as file:
                if file.read().strip() == name:
                    found.append(times[task])
        except OSError:
            continue  # the thread has just ended
    if not found:
        raise Failure("the host has no thread %s" % name)
    return sum(found)


def _memory(pid):
    """What a process has resident now, in KiB."""
    with open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    raise Failure("process %d is gone" % pid)
