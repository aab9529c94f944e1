"""Viewers of a scene that is shared live, at the host itself or at a Janus: what each further one costs, and its join."""

import time

from bench_kit.limits import at_least, at_most
from bench_kit.processes import Failure, control_answer
from bench_kit.pushing import share
from bench_kit.replaying import Served, pinned
from bench_kit.report import table
from bench_kit.room import busy_share, busy_time

from .beside import Janus
from .generator import PHASE
from .limits import WHOLE
from .watch import Watch, most_at_low_rate

#: Seconds that starting everything may take, and until the viewers' start is over: bursts, probes for bandwidth,
#: refreshes.
START, SETTLING = 60, 4
#: ms of CPU time per second, and KiB, that a further viewer of a scrolled text of this size may cost.
TIME_LIMIT, MEMORY_LIMIT, LIMITED = 10, 512, (1920, 1080)


class Share(Served):
    """`screenrelay share` of a scene, on this processor; `more` is for `Room`."""

    def __init__(self, bench, scene, folder, core, words=(), **more):
        options = bench.options
        seconds = 3 * START + max(options.viewers) / options.join_rate + SETTLING + options.seconds + PHASE
        self.folder, self.room = folder, share(
            bench, [*words, *options.share], bench.scene(scene), seconds, folder, options.bit_rate,
            prefix=pinned(core, []), **more)
        self.process, self.link = self.room.share, self.room.printed_link
        self.room.shown.start()

    def require_running(self):
        self.process.require_running()

    def close(self):
        self.room.close()

    def cpu(self):
        """Nanoseconds of CPU time so far."""
        threads = self.threads()
        return {"host": sum(threads.values()), "media": threads.get("media", 0), "server": 0,
                "capture": self.room.processor_times()["capture"]}


class JanusShare(Janus):
    """A Janus, to which such a share pushes, and where all watch."""

    def cpu(self):
        return {**self.host.cpu(), "server": sum(self.threads().values())}


def measure(bench, folder, scene, viewers, at_janus):
    """A row: a host of its own, as for a recording."""
    options = bench.options
    host = Share(bench, scene, folder, options.host_core) if not at_janus else JanusShare(
        bench, folder, lambda core, words, address: Share(bench, scene, folder, core, words, address=address))
    own = host.host if at_janus else host
    try:
        bench.watch_once(host, folder)
        begun = host.cpu()
        with bench.generate(host.link, viewers, None, folder, warm=0) as crowd:
            crowd.wait_for("ready", START + viewers / options.join_rate)
            joined = host.cpu()
            time.sleep(SETTLING)

            def work():
                before, busy, start = host.cpu(), busy_time(), time.monotonic()
                # Of a host that only pushes there is nothing to watch, and other machines can't read its /metrics.
                watch = None if at_janus else Watch(host)
                if watch:
                    watch.start()
                time.sleep(options.seconds)
                seconds = time.monotonic() - start
                used = {name: (now - before[name]) / 1e6 / seconds for name, now in host.cpu().items()}
                return {**used, "low_rate": most_at_low_rate(watch.finish()) if watch else 0, "memory": own.memory(),
                        "server_memory": host.memory() if at_janus else 0, "busy": busy_share(busy),
                        "faults": faults(own)}

            found, result = crowd.measure(work)
    finally:
        host.close()
    if not result["packets"] or result["joined"] < viewers:
        raise Failure("%d of %d viewers got the video: %s" % (result["joined"], viewers, result.get("failure")))
    share = 1 / result["seconds"] / viewers
    return {"scene": scene, "viewers": viewers, **found,
            "joining_host": (joined["host"] - begun["host"]) / 1e6 / viewers,
            "joining_server": (joined["server"] - begun["server"]) / 1e6 / viewers,
            "kbit_each": result["bytes"] * 8 / 1000 * share, "packets_each": result["packets"] * share,
            **{key: result[key] for key in ("lost_packets", "whole_percent_worst", "pictures", "connect_ms", "join_ms",
                                            "cpu_percent", "drops")}}


def faults(host):
    """The viewers whose reports the host ignores."""
    rooms = control_answer(host.process.pid, host.folder, "rooms", 10)["rooms"]
    return sum("reportFault" in path for room in rooms for member in room["members"]
               for path in member.get("paths") or [])


def derive(rows):
    """What each viewer beyond the first number costs: ms of CPU time per second, and KiB."""
    first, last = rows[0], rows[-1]
    more = last["viewers"] - first["viewers"]
    return {key: (last[key] - first[key]) / more for key in ("host", "media", "server", "memory", "server_memory")}


def by_scene(rows):
    return {scene: [one for one in rows if one["scene"] == scene] for scene in dict.fromkeys(
        one["scene"] for one in rows)}


def lines(rows, at_janus):
    """The table of the viewers at the host or at a Janus, and what follows from it."""
    columns = ["scene", "viewers", "host ms/s", "of that media", "capture ms/s", "host MiB",
               *["Janus ms/s", "Janus MiB"] * at_janus, "kbit/s to each", "packets/s to each", "lost",
               "frames, of them whole for the worst viewer %", "low rate", "false reports", "join CPU ms",
               "connected ms: median, p95, most", "first frame ms: median, p95, most", "bench-viewers: %, drops",
               "machine busy"]

    def times(one):
        return ", ".join("%.0f" % one[name] for name in ("median", "p95", "max"))

    found = table(columns, [[
        one["scene"], "%d" % one["viewers"], *("%.1f" % one[key] for key in ("host", "media", "capture")),
        "%.1f" % (one["memory"] / 1024),
        *["%.1f" % one["server"], "%.1f" % (one["server_memory"] / 1024)] * at_janus, "%.0f" % one["kbit_each"],
        "%.1f" % one["packets_each"], "%d" % one["lost_packets"],
        "%d, %.2f" % (one["pictures"], one["whole_percent_worst"]), "%d" % one["low_rate"], "%d" % one["faults"],
        "%.1f" % one["joining_server" if at_janus else "joining_host"], times(one["connect_ms"]), times(one["join_ms"]),
        "%.0f, %d" % (one["cpu_percent"], one["drops"]), "%.0f %%" % (100 * one["busy"])] for one in rows])
    where, used, memory = ("Janus", "server", "server_memory") if at_janus else ("the host", "host", "memory")
    for scene, some in by_scene(rows).items():
        if len(some) > 1:
            more = derive(some)
            found += ["", "%s: each further viewer costs %s %.2f ms/s and %.0f KiB, and the media threads %.2f ms/s." % (
                scene, where, more[used], more[memory], more["media"])]
    return found


def checks(options, rows):
    """The limits of viewers at the host: of a scrolled text at the usual size, and of receiver reports."""
    found = []
    if options.feedback == "reports":
        for one in rows:
            title = "%s, %d viewers, " % (one["scene"], one["viewers"])
            found += [at_least(title + "whole frames of the worst", one["whole_percent_worst"], WHOLE, "%"),
                      at_most(title + "at the low-rate rendition", one["low_rate"], 0, "")]
    scroll = by_scene(rows).get("scroll", [])
    if options.size == LIMITED and len(scroll) > 1:
        more = derive(scroll)
        found += [at_most("a further viewer of a scrolled text", more["host"], TIME_LIMIT, "ms/s"),
                  at_most("the same, memory", more["memory"], MEMORY_LIMIT, "KiB")]
    return found
