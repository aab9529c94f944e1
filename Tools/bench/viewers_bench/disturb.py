"""Disturbs a quiet host that many viewers watch, and compares the phases before, during and after."""

import time

from bench_kit.outcome import conclude
from bench_kit.processes import Failure
from bench_kit.replaying import Host
from bench_kit.report import limits as limit_lines, processor, table, write_json

from . import limits
from .disturbances import ALL
from .watch import Watch, most_at_low_rate

#: Seconds that starting everything may take.
START = 60
#: Seconds after a disturbance from which on all must be as before.
CALM = 2
COLUMNS = ["phase", "whole pictures %: all, worst viewer", "delay of the last viewer p95 ms", "host, % of a core",
           "host MiB: end, most", "key frames", "at the low-rate rendition", "half-open", "failed viewers",
           "bench-viewers: %, drops"]


def phase(crowd, host, work):
    """Counts what viewers get and the host does while `work` runs. Gives that, and what `work` gives."""
    def watched():
        watch = Watch(host)
        watch.start()
        try:
            found = work()
        finally:
            watch.over.set()
        return watch.finish(), found

    (samples, found), result = crowd.measure(watched)
    host.require_running()
    first, last = samples[0], samples[-1]
    seconds = last["time"] - first["time"]
    return {"seconds": seconds, "ended": last["time"],
            "host_percent": (last["cpu_ns"] - first["cpu_ns"]) / 1e7 / seconds,
            "memory_kib": last["memory_kib"], "memory_most_kib": max(one["memory_kib"] for one in samples),
            "key_frames": last["published_key_frames_total"] - first["published_key_frames_total"],
            "low_rate": most_at_low_rate(samples),
            "half_open": max(one['sessions{state="connecting"}'] for one in samples),
            "delay_ms": result["spread_ms"]["p95"],
            **{key: result[key] for key in ("whole_percent", "whole_percent_worst", "failed", "pictures",
                                            "unplaced", "cpu_percent", "drops")}}, found


def measure(bench, name, folder):
    """The phases of one disturbance by their names, and what the disturbance has counted."""
    options, viewers = bench.options, bench.options.viewers[0]
    disturb, usual = ALL[name]
    host = Host(bench.program, bench.recording, options, folder, options.host_core)
    try:
        bench.watch_once(host, folder)
        with bench.generate(host.link, viewers, None, folder) as crowd:
            crowd.wait_for("ready", START + viewers / options.join_rate)
            before, _ = phase(crowd, host, lambda: time.sleep(options.seconds))
            during, found = phase(crowd, host, lambda: disturb(bench, host, options.disturb_seconds or usual))
            time.sleep(max(0, during["ended"] + CALM - time.monotonic()))
            after, _ = phase(crowd, host, lambda: time.sleep(options.seconds))
    finally:
        host.close()
    if not before["pictures"]:
        raise Failure("the viewers got nothing")
    return {"before": before, "during": during, "after": after}, found


def row(name, one):
    return [name, "%.2f, %.2f" % (one["whole_percent"], one["whole_percent_worst"]), "%.1f" % one["delay_ms"],
            "%.1f" % one["host_percent"], "%.1f, %.1f" % (one["memory_kib"] / 1024, one["memory_most_kib"] / 1024),
            "%d in %.0f s" % (one["key_frames"], one["seconds"]), "%d" % one["low_rate"], "%d" % one["half_open"],
            "%d" % one["failed"], "%.0f, %d" % (one["cpu_percent"], one["drops"])]


def summary(name, found):
    """What the disturbance has counted, in words."""
    if name == "busy":
        return "The busy program got %.0f %% of the host's processor." % found["busy_percent"]
    if name == "joins":
        return "Of %d joins, %d got a picture, p95 after %.0f ms; %d were refused." % (
            found["peers"], found["pictures"], found["join_ms"]["p95"], found["refused"])
    if name == "hellos":
        ended = "not over" if found["half_open_s"] is None else "over after %.1f s" % found["half_open_s"]
        return "Of %d peers, %d sent a ClientHello and %d were refused; half-open sessions were %s." % (
            found["peers"], found["hellos"], found["refused"], ended)
    return "%d checks of %d bytes, %d answers of %d bytes." % (
        found["sent"], found["sent_bytes"], found["answers"], found["answer_bytes"])


def disturb_all(bench):
    options, results, checks, failures = bench.options, {}, [], []
    for name in options.disturb:
        measured = bench.run_twice(name, lambda folder: measure(bench, name, folder))
        if not measured:
            failures.append(name)
            continue
        phases, found = measured
        results[name] = {"phases": phases, "found": found}
        checks += limits.checks(name, phases, found)
        print("\n".join(["", "%s, %d viewers" % (name, options.viewers[0]), ""]
                        + table(COLUMNS, [row(one, phases[one]) for one in phases]) + ["", summary(name, found)]),
              flush=True)
    write_json(options, "disturb", checks, results=results, failures=failures)
    print("\n".join(limit_lines(checks) + ["", processor()]))
    return conclude(failures, checks, options.check)
