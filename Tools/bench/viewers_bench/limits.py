"""What a disturbance may do to viewers and to the host; every limit is here and nowhere else."""

from capture_bench.limits import Check, at_least, at_most

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
