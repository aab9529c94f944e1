"""Janus beside the host: the host pushes the same recording to it, and the same viewers watch there."""

import resource

from bench_kit import janus
from bench_kit.replaying import memory, pinned, threads
from bench_kit.report import table

from . import figures
from .limits import COMPARED, WHOLE

#: Seconds until Janus runs.
START = 20
#: The bit rate at most, which no recording reaches: Janus is not to slow the push down.
BIT_RATE = 100_000_000


class Janus:
    """On the host's processor; the host, which has no viewers now, is on the one of everything else. `make_host(core,
    words, address)` starts it, with these words on its command line."""

    def __init__(self, bench, folder, make_host):
        self.started, options = [], bench.options
        try:
            _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
            prefix = ["prlimit", "--nofile=%d:%d" % (files, files), *pinned(options.host_core, [])]
            # One thread for the media of all, because it has one processor.
            self.server, token = janus.Janus(folder, BIT_RATE, prefix, is_lite=True, loops=1), janus.token()
            self.started.append(self.server)
            self.server.start()
            self.server.wait_until_ready(START)
            self.host = make_host(
                options.core, ["--push", self.server.push(token), "--preset", "only=pictures"], janus.own_address())
            self.started.append(self.host)
            self.gateway, origin = self.server.gateway(token)
            self.started.append(self.gateway)
            self.link = origin + "/whep"
        except BaseException:
            self.close()
            raise

    def require_running(self):
        for process in (self.server.process, self.gateway.process):
            process.require_running()
        self.host.require_running()

    def close(self):
        for one in reversed(self.started):
            one.close()

    def threads(self):
        return threads(self.server.process.pid)

    def media_threads(self):
        return {}

    def memory(self):
        return memory(self.server.process.pid)


COLUMNS = ["viewers", "% of a core: host, Janus", "µs per packet: host, Janus", "whole pictures %: host, Janus",
           "join p95 ms: host, Janus", "KiB per viewer: host, Janus", "joined: host, Janus", "CPU time: Janus / host"]


def compare(hosts, servers):
    """Lines about both, from the rows of each."""
    servers = {one["viewers"]: one for one in servers}
    pairs = [(one, servers[one["viewers"]]) for one in hosts if one["viewers"] in servers]

    def both(pair, form, value):
        return ", ".join(form % value(one) for one in pair)

    rows = [["%d" % pair[0]["viewers"], both(pair, "%.1f", lambda one: one["host_percent"]),
             both(pair, "%.2f", lambda one: one["host_us"]), both(pair, "%.2f", lambda one: one["whole_percent"]),
             both(pair, "%.0f", lambda one: one["join_ms"]["p95"]), both(pair, "%.0f", lambda one: one["memory_kib"]),
             both(pair, "%d", lambda one: one["joined"]), "%.2f" % figures.janus_ratio(*pair)] for pair in pairs]
    ours, theirs = _carried(hosts), _carried(servers.values())
    lines = ["", "Janus beside it:", "", *table(COLUMNS, rows), "",
             "The most viewers that got %g %% of the pictures whole: %d at the host, %d at Janus%s."
             % (WHOLE, ours, theirs, " (%.1f times as many at the host)" % (ours / theirs) if theirs else "")]
    compared = [figures.janus_ratio(*pair) for pair in pairs if pair[0]["viewers"] == COMPARED]
    return lines + ["CPU time at %d viewers, Janus' divided by the host's: %.2f." % (COMPARED, one)
                    for one in compared]


def _carried(rows):
    """The most viewers of which all joined, and got nearly all pictures whole."""
    return max((one["viewers"] for one in rows if not one["failed"] and one["whole_percent"] >= WHOLE), default=0)
