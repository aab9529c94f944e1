"""What viewers may cost a host, what they must get, and what a disturbance may do to both; every limit is here and
nowhere else."""

from bench_kit.limits import Check, at_least, at_most

from . import figures

#: From so many viewers on, costs for each packet and viewer have limits. Of fewer viewers, work that doesn't depend on
#: their number is a large part.
MANY = 500
#: Of the viewers that the floor with UDP_SEGMENT would carry, in percent.
FLOOR_SHARE = 60
#: The media threads' CPU time for each packet, divided by that of encryption and sendto alone.
SENDTO_RATIO = 1.5
#: The host's memory for each viewer, in KiB: 80 kB.
VIEWER_MEMORY = 80_000 / 1024
#: Percent of whole pictures of all viewers; milliseconds of the spread and of joins, at p95.
WHOLE, SPREAD_MS, JOIN_MS = 99.9, 33, 500
#: From so many viewers on, the host's CPU time for each viewer may differ by this factor at most.
LEVEL_FROM, LEVEL = 100, 1.1
#: The number of viewers whose CPU time is compared with that at Janus, and how many times less the host needs at least.
COMPARED, JANUS_RATIO = 500, 3
#: What several media threads carry at least, for each of them, of what one does.
THREAD_SHARE = 0.9
#: Percent of its processor that bench-viewers may need; with more it was too slow, and the figures are worthless.
GENERATOR = 90
#: Percent of whole pictures while another program takes half of the host's processor.
BUSY_WHOLE = 99
#: By how many percent of whole pictures a phase may be below the one before.
WHOLE_LOSS = 0.1
#: By how much the delay of the last viewer may be longer than before: a factor, and milliseconds.
DELAY_FACTOR, DELAY_MS = 1.5, 5
#: The host's memory after an attack, as a share of that before.
MEMORY = 1.1
#: Seconds after the last hello until half-open sessions are over.
HALF_OPEN = 30
#: How many sessions a host keeps that aren't connected.
HALF_OPEN_SESSIONS = 512
#: The least share of the disturbance that must have happened, in percent.
HAPPENED = 95
#: The least share of a processor that the busy program must have got, in percent.
BUSY_SHARE = 40
#: The least share of the joins that must get a picture, in percent.
JOINED = 99
#: Seconds for each key frame.
KEY_FRAME = 2


def checks_of_load(rows, servers):
    """The checks of viewers on clean paths, whom nothing disturbs: the `rows` of hosts, and those of Janus."""
    own = [check for one in rows for check in _received(one) + ([] if one["threads"] else _cost(one))]
    single = [one for one in rows if not one["threads"]]
    beside = [_threads(one, many) for one in single for many in rows
              if many["threads"] and many["viewers"] == one["viewers"]]
    janus = [at_least("%d viewers: CPU time of Janus by the host's" % COMPARED, figures.janus_ratio(one, server),
                      JANUS_RATIO, "times")
             for one in single for server in servers if one["viewers"] == server["viewers"] == COMPARED]
    return own + _level([one for one in single if one["viewers"] >= LEVEL_FROM]) + beside + janus


def _named(one, found):
    """The checks of a row, with its name."""
    threads = ", %d media threads" % one["threads"] if one["threads"] else ""
    for check in found:
        check.what = "%d viewers%s: %s" % (one["viewers"], threads, check.what)
    return found


def _received(one):
    decoded, pictures = figures.decoded(one)
    return _named(one, [
        at_least("whole pictures", one["whole_percent"], WHOLE, "%"),
        # If none was measured, the limit is missed too.
        at_most("pictures of one viewer that weren't decoded", max(1, pictures) - decoded, 0, ""),
        at_most("spread, p95", one["spread_ms"]["p95"], SPREAD_MS, "ms"),
        at_most("join, p95", one["join_ms"]["p95"], JOIN_MS, "ms"),
        at_most("viewers at the low-rate rendition", one["low_rate"], 0, ""),
        at_most("viewers that aren't compared", one["unplaced"], 0, ""),
        at_most("datagrams that bench-viewers had no room for", one["drops"], 0, ""),
        at_most("bench-viewers' share of its processor", one["cpu_percent"], GENERATOR, "%")])


def _cost(one):
    if one["viewers"] < MANY:
        return []
    return _named(one, [
        at_least("of the viewers of the floor with UDP_SEGMENT", figures.floor_share(one), FLOOR_SHARE, "%"),
        at_most("CPU time of media by that of encryption and sendto", figures.sendto_ratio(one), SENDTO_RATIO, "times"),
        at_most("memory for each viewer", one["memory_kib"], VIEWER_MEMORY, "KiB")])


def _level(rows):
    if len(rows) < 2:
        return []
    least, *_, most = sorted(rows, key=figures.per_viewer)
    return [at_most("CPU time for each viewer, with %d viewers by that with %d" % (most["viewers"], least["viewers"]),
                    figures.per_viewer(most) / max(1e-6, figures.per_viewer(least)), LEVEL, "times")]


def _threads(one, many):
    count = many["threads"]
    return at_least("%d viewers: what %d media threads carry, by what one does" % (one["viewers"], count),
                    figures.carried(one, many), THREAD_SHARE * count, "times")


def checks(name, phases, found):
    """The checks of one disturbance: `phases` by their names, and what the disturbance has counted."""
    before, during, after = phases["before"], phases["during"], phases["after"]
    own = {"busy": _busy, "joins": _joins, "hellos": _hellos, "checks": _checks}[name](before, during, after, found)
    kept = [
        at_most("viewers at the low-rate rendition, before", before["low_rate"], 0, ""),
        at_most("viewers at the low-rate rendition, during", during["low_rate"], 0, ""),
        at_most("viewers at the low-rate rendition, after", after["low_rate"], 0, ""),
        at_most("datagrams that bench-viewers had no room for", sum(one["drops"] for one in phases.values()), 0, ""),
        at_most("viewers that aren't compared", sum(one["unplaced"] for one in phases.values()), 0, ""),
        at_most("viewers whose session failed", after["failed"], 0, ""),
        at_least("whole pictures after", after["whole_percent"], before["whole_percent"] - WHOLE_LOSS, "%"),
        at_most("delay of the last viewer after", after["delay_ms"],
                before["delay_ms"] * DELAY_FACTOR + DELAY_MS, "ms"),
    ]
    for check in own + kept:
        check.what = "%s: %s" % (name, check.what)
    return own + kept


def _busy(before, during, after, found):
    return [at_least("what the busy program got", found["busy_percent"], BUSY_SHARE, "%"),
            at_least("whole pictures during", during["whole_percent"], BUSY_WHOLE, "%")]


def _joins(before, during, after, found):
    return [at_least("joins with a picture", 100 * found["pictures"] / found["peers"], JOINED, "%"),
            at_least("whole pictures of the worst viewer", during["whole_percent_worst"], 100, "%"),
            at_most("key frames", during["key_frames"], during["seconds"] // KEY_FRAME + 1, "")]


def _hellos(before, during, after, found):
    ended = found["half_open_s"]
    limit = "at most %g s" % HALF_OPEN
    return [at_least("peers that sent a hello or were refused",
                     100 * (found["hellos"] + found["refused"]) / found["peers"], HAPPENED, "%"),
            Check("end of half-open sessions", "never", limit, False) if ended is None
            else at_most("end of half-open sessions", ended, HALF_OPEN, "s"),
            at_most("half-open sessions", during["half_open"], HALF_OPEN_SESSIONS, ""),
            _unharmed(before, during), _memory(before, after)]


def _checks(before, during, after, found):
    return [at_least("checks", 100 * found["sent"] / (found["rate"] * found["seconds"]), HAPPENED, "%"),
            at_most("bytes of answers for each byte of checks", found["answer_bytes"] / max(1, found["sent_bytes"]), 1,
                    ""),
            at_most("longest answer", found["longest_answer"], found["shortest_check"], "bytes"),
            at_most("answers that weren't counted", found["drops"], 0, ""),
            _unharmed(before, during), _memory(before, after)]


def _unharmed(before, during):
    return at_least("whole pictures during", during["whole_percent"], before["whole_percent"] - WHOLE_LOSS, "%")


def _memory(before, after):
    return at_most("memory after", after["memory_kib"] / 1024, before["memory_kib"] / 1024 * MEMORY, "MiB")
