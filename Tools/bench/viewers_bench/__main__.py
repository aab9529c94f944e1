"""What the viewers of each number cost a host, and what they get, in tables."""

import sys

from bench_kit.outcome import FAILED, OK, carry_out, conclude
from bench_kit.processes import TROUBLE
from bench_kit.report import limits as limit_lines, processor, table, write_json

from . import figures, live, paths, shards, streams
from .against import measure_against
from .bench import Bench, tell
from .beside import compare
from .disturb import disturb_all
from .limits import checks_of_load
from .options import parse


def row(one):
    return ["%d" % one["joined"], "%.1f" % one["host_percent"], "%.2f" % one["host_us"], "%.2f" % one["media_us"],
            "%.2f, %.2f" % (one["floor_sendto_us"], one["floor_segmented_us"]),
            "%.2f" % figures.sendto_ratio(one), "%.0f" % figures.floor_share(one),
            "%.2f, %.2f" % (one["whole_percent"], one["whole_percent_worst"]), "%d of %d" % figures.decoded(one),
            "%.1f" % one["spread_ms"]["p95"], "%.0f" % one["join_ms"]["p95"], "%.0f" % one["memory_kib"],
            "%d" % one["low_rate"], "%d" % one["retransmissions"], "%.0f, %d" % (one["cpu_percent"], one["drops"])]


COLUMNS = ["viewers", "host, % of a core", "µs per packet", "of that media", "floor: sendto, UDP_SEGMENT",
           "media / sendto", "of the viewers of the floor with UDP_SEGMENT, %", "whole pictures %: all, worst viewer",
           "decoded pictures of one viewer", "spread p95 ms", "join p95 ms", "KiB per viewer",
           "at the low-rate rendition", "retransmissions", "bench-viewers: %, drops"]


def measure_twice(bench, title, measure, write, failures):
    """A row in a list; one that fails is measured once more. Empty if it fails again."""
    one = bench.run_twice(title, measure)
    if not one:
        failures.append(title)
        return []
    tell("%s: %s" % (title, ", ".join(write(one)) if write else "done"))
    return [one]


def measure_live(bench):
    """Viewers of scenes that are shared live."""
    options, rows, failures = bench.options, {}, []
    for at_janus in [False] + [True] * options.janus:
        where = "at Janus" if at_janus else "at the host"
        rows[where] = []
        for scene in options.scenes:
            for viewers in options.viewers:
                rows[where] += measure_twice(bench, "%s, %d viewers %s" % (scene, viewers, where), lambda folder: live.measure(
                    bench, folder, scene, viewers, at_janus), None, failures)
        print("\n".join(["## Viewers " + where, "", *live.lines(rows[where], at_janus), ""]), flush=True)
    checks = live.checks(options, rows["at the host"])
    write_json(options, "viewers", checks, live=rows, failures=failures)
    print("\n".join([processor() + ".", *limit_lines(checks)]))
    return conclude(failures, checks, options.check)


def measure_all(options, folder):
    if options.against:
        try:
            measure_against(options, folder, tell)
        except TROUBLE as error:
            tell("%s" % error)
            return FAILED
        return OK
    bench, rows, servers, failures = Bench(options, folder), [], [], []
    if options.disturb:
        return disturb_all(bench)
    if options.scenes:
        return measure_live(bench)
    is_whep = options.by == "whep"
    write = row if is_whep else streams.row
    for viewers in options.viewers:
        rows += measure_twice(bench, "%d viewers" % viewers, lambda folder: bench.measure(viewers, folder), write, failures)
        if options.threads:
            rows += measure_twice(bench, "%d viewers, %d media threads" % (viewers, options.threads),
                                  lambda folder: bench.measure(viewers, folder, options.threads), write, failures)
        if options.janus:
            servers += measure_twice(
                bench, "%d viewers at Janus" % viewers, lambda folder: bench.measure_janus(viewers, folder), None, failures)
    # The limits are for clean paths over WebRTC.
    checks = checks_of_load(rows, servers) if is_whep and not options.paths else []
    write_json(options, "viewers", checks, rows=rows, janus=servers, failures=failures)
    if rows:
        columns = COLUMNS if is_whep else streams.columns(options.by)
        print("\n".join(table(columns, [write(one) for one in rows])))
        if is_whep:
            note = "feedback: %s; %.1f packets per picture of %d bytes" % (
                options.feedback, rows[-1]["packets_per_picture"], rows[-1]["packet_bytes"])
        else:
            note = streams.note(options.by, rows[-1])
        print("\n%s, %s." % (processor(), note))
    unplaced = sum(one["unplaced"] for one in rows)
    if unplaced:
        print("\nNot compared, as they have got other pictures than the rest: %d viewers." % unplaced)
    if options.threads and len(rows) == 2:
        print("\n" + shards.line(rows))
    if rows and servers:
        print("\n".join(compare(rows, servers)))
    if rows and options.paths:
        print("\n".join(["", *paths.lines(rows)]))
    failures += ["%d of %d viewers: %s" % (one["failed"], one["viewers"], one["failure"])
                 for one in rows if one["failed"]]
    if checks:
        print("\n".join(limit_lines(checks)))
    return conclude(failures, checks, options.check)


def main():
    options = parse(sys.argv[1:])
    return carry_out("viewers", lambda folder: measure_all(options, folder))


sys.exit(main())
