"""What pointing has to reach; every limit is here and nowhere else."""

from bench_kit.limits import at_least, at_most

#: The scenes that have limits.
SCENES = ["idle", "typing"]
#: Milliseconds from the pointer's event to the dot on the sharer's screen, at p95.
DELAY = 60
#: Milliseconds of the capture process's CPU time per second that pointing may add: it draws the overlay.
CPU_MORE = 3
#: Pointing must not have more pictures encoded. Two windows of a run may differ by one picture, or by this part, because
#: they show different parts of the scene.
PICTURES, PICTURES_PART = 1, 0.03
#: Events of the pointer per second that the page must have handled, so that it has sent all the places that it can (30
#: per second).
MOVES = 35


def checks(part, scene, figures):
    if scene not in SCENES:
        return []
    return {"delay": _delay, "cost": _cost}[part](scene, figures)


def _delay(scene, figures):
    found = []
    for kind, one in figures.items():
        found.append(at_most("%s, %s, p95" % (scene, kind), one["p95_ms"], DELAY, "ms"))
        found.append(at_most("%s, %s, not seen" % (scene, kind), one["unseen"], 0, "of %d" % one["dots"]))
    return found


def _cost(scene, figures):
    resting, pointing, more = (figures[name] for name in ("resting", "pointing", "more"))
    allowed = max(PICTURES / resting["seconds"], PICTURES_PART * resting["pictures_per_second"])
    return [at_most("%s, capture's CPU time, more" % scene, more["capture_cpu"], CPU_MORE, "ms per second"),
            at_most("%s, pictures, more" % scene, more["pictures_per_second"], allowed, "per second"),
            at_least("%s, pointer's events" % scene, pointing["moves_per_second"], MOVES, "per second")]
