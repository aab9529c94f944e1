"""What view has to reach beside Chromium; every limit is here and nowhere else."""

from bench_kit.limits import Check, at_most

#: The delay and the CPU time at most, as a share of Chromium's. At p95 the delay has a limit only without loss: with a
#: loss, chance decides which viewer's picture needs the packets that are lost.
DELAY_SHARE, CPU_SHARE = 1.0, 0.5


def checks(summary):
    found, first = [], summary.course.narrow[0].name
    for phase in summary.course.narrow:
        name = phase.name
        found.append(_compared(summary, name, "paint to shown, p50", "delay_p50_ms", DELAY_SHARE, "ms"))
        if name == first:
            found.append(_compared(summary, name, "paint to shown, p95", "delay_p95_ms", DELAY_SHARE, "ms"))
        found.append(_compared(summary, name, "CPU time", "cpu", CPU_SHARE, "ms per second"))
    return found


def _compared(summary, phase, what, key, part, unit):
    """Like `at_most`; what either of them doesn't have is missed."""
    what = "%s, %s" % (phase, what)
    ours, theirs = (summary.value(kind, phase, key) for kind in ("view", "chromium"))
    if ours is None or theirs is None:
        who = "view" if ours is None else "Chromium"
        return Check(what, "unknown", "%s has shown nothing" % who, False)
    return at_most(what, ours, theirs * part, unit)
