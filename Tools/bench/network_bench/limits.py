"""What viewers have to get; every limit is here and nowhere else."""

from bench_kit.limits import Check, at_least, at_most

#: Milliseconds: 95 of 100 pictures of a narrow viewer, from 2 s after each change of his link. (How old what he sees is
#: has no limit here: while a page is turned, that is what the link needs for the page, 0.7 s for 25 kB at 300 kbit/s.)
NARROW_DELAY = 500
#: Whole pictures a second of a scrolled text, on so many bits a second.
NARROW_PICTURES = {500_000: 12}
#: Seconds after a change until the host's estimate is at 60 to 100 % of the link, and until all pictures are back.
ESTIMATE_SETTLED, BACK = 5, 5
#: By how much a clean viewer's figures may get worse beside a narrow one: a share, and for delays at least so many ms.
#: The quantizer stands for the sharpness: it counts each picture. The median PSNR of five samples says when they were
#: taken: 38.6 to 50.7 dB in runs of the same quantizer and bytes.
CLEAN_SHARE, CLEAN_MS = 0.05, 3
#: By percent lost: freezes a minute, pictures a second.
LOSS = {"1 % loss": (0, 25), "5 % loss": (0.5, 25), "10 % loss": (2, 22), "20 % loss": (8, 15),
        "5 % loss both ways": (1, 0)}
#: No key frame is made for these, beyond those that the scene causes without loss.
WITHOUT_KEY_FRAMES = {"1 % loss", "5 % loss"}
#: The rate received with loss, and with what is no sign of a full link, as a share of that without.
LOSS_RATE, OTHER_RATE = 0.5, 0.8
#: From a typed letter to its pixels with 5 % loss, 99 of 100, in ms.
TYPING = 200
#: The sum of the probabilities that a checked picture is damaged. A right one adds 0, to the last bit.
DAMAGE = 0.01
#: The quantizer of a clean viewer's motion, once the rate has risen.
GROWN_QUANTIZER = 30
#: Milliseconds beyond what the link needs for the bytes of a repaint.
REPAINT = 500
#: Milliseconds to the first picture by round trip: new, and opened again.
FIRST = {0: (200, None), 40: (500, 400), 100: (900, 700)}


def checks(summary):
    """The checks of one course's medians."""
    course = summary.course
    title = course.title + ": "
    found = {"steps": _steps, "growth": _growth, "loss": _loss, "burst": _other, "duplicates": _other,
             "reorder": _other, "jitter": _other, "still-repaint": _repaint,
             "first-picture": _first}[course.scenario](summary, title)
    return found + (_right(summary, title) if course.kind == "motion" else [])


def _right(summary, title):
    """Each picture that a browser has checked, in any run, was what the host meant."""
    phases = [phase for run in summary.runs for viewer in run["viewers"] for phase in viewer["phases"]]
    count = sum(phase.get("checked", 0) for phase in phases)
    damage = sum(phase.get("damage", 0) for phase in phases)
    return [at_least(title + "checked pictures", count, len(phases), ""),
            at_most("%sdamage in %d checked pictures" % (title, count), damage, DAMAGE, "")]


def _most(what, value, limit, unit):
    """Like `at_most`; what wasn't seen at all is missed."""
    return Check(what, "never", "at most %g %s" % (limit, unit), False) if value is None else at_most(
        what, value, limit, unit)


def _steps(summary, title):
    course, found = summary.course, []
    free, first, low, again = (phase.name for phase in course.narrow)
    for phase in (first, low, again):
        found.append(_most("%snarrow, %s, delay p95" % (title, phase), summary.value("narrow", phase, "delay_p95_ms"),
                           NARROW_DELAY, "ms"))
        if summary.value("narrow", phase, "estimate_kbps") is not None:
            found.append(_most("%snarrow, %s, estimate at 60 to 100 %% of the link" % (title, phase),
                               summary.value("narrow", phase, "estimate_settled_seconds"), ESTIMATE_SETTLED, "s"))
    wanted = NARROW_PICTURES.get(course.facts["low"])
    if wanted and course.scene == "scroll":
        found.append(at_least("%snarrow, %s, pictures" % (title, low),
                              summary.value("narrow", low, "settled_pictures_per_second"), wanted, "a second"))
    found.append(_most("%snarrow, %s, back" % (title, again), summary.value("narrow", again, "back_after_seconds"),
                       BACK, "s after the change"))
    for phase in (first, low, again) if course.clean_viewers else ():
        found += _clean(summary, title, free, phase)
    return found


def _clean(summary, title, free, phase):
    before, after = ({key: summary.value("clean", one, key) for key in (
        "pictures_per_second", "quantizer", "delay_p50_ms")} for one in (free, phase))
    found = []
    if before["pictures_per_second"] is not None:
        found.append(at_least("%sclean, %s, pictures" % (title, phase), after["pictures_per_second"] or 0,
                              before["pictures_per_second"] * (1 - CLEAN_SHARE), "a second"))
    if before["quantizer"] is not None:
        found.append(_most("%sclean, %s, QP" % (title, phase), after["quantizer"],
                           before["quantizer"] * (1 + CLEAN_SHARE), ""))
    if before["delay_p50_ms"] is not None:
        limit = max(before["delay_p50_ms"] * (1 + CLEAN_SHARE), before["delay_p50_ms"] + CLEAN_MS)
        found.append(_most("%sclean, %s, delay p50" % (title, phase), after["delay_p50_ms"], limit, "ms"))
    return found


def _growth(summary, title):
    last = summary.course.narrow[-1].name
    return [_most("%sclean, %s, QP" % (title, last), summary.value("clean", last, "quantizer"), GROWN_QUANTIZER, ""),
            _most("%snarrow, %s, delay p95" % (title, last), summary.value("narrow", last, "delay_p95_ms"),
                  NARROW_DELAY, "ms")]


def _loss(summary, title):
    without, phase = (one.name for one in summary.course.narrow)
    found = []
    freezes, pictures = LOSS.get(phase, (None, None))
    moves = summary.course.scene != "typing"
    if freezes is not None and moves:
        found.append(at_most(title + "freezes", summary.value("narrow", phase, "freezes_per_minute"), freezes,
                             "a minute"))
        if pictures:
            found.append(at_least(title + "pictures", summary.value("narrow", phase, "pictures_per_second"), pictures,
                                  "a second"))
    if not moves and phase == "5 % loss":
        found.append(_most(title + "letter to pixels, p99", summary.value("narrow", phase, "delay_p99_ms"), TYPING,
                           "ms"))
    if phase in WITHOUT_KEY_FRAMES:
        before, after = (summary.value("narrow", one.name, "key_frames") / one.seconds * 60
                         for one in summary.course.narrow)
        found.append(at_most(title + "key frames", after, before, "a minute"))
    return found + _rate(summary, title, without, phase, LOSS_RATE)


def _other(summary, title):
    without, phase = (one.name for one in summary.course.narrow)
    freezes = at_most(title + "freezes", summary.value("narrow", phase, "freezes_per_minute"), 0, "a minute")
    return [freezes] + _rate(summary, title, without, phase, OTHER_RATE)


def _rate(summary, title, without, phase, share):
    before, after = (summary.value("narrow", one, "received_kbps") for one in (without, phase))
    return [at_least(title + "received", after or 0, (before or 0) * share, "kbit/s")]


def _repaint(summary, title):
    phase = summary.course.narrow[0].name
    return [_most(title + "complete, beyond what the link needs", summary.value("narrow", phase, "beyond_link_ms"),
                  REPAINT, "ms")]


def _first(summary, title):
    new, again = FIRST.get(summary.course.facts["round_trip"], (None, None))
    return [at_most("%sfirst picture, %s" % (title, name), summary.value("visitor", name, "first_picture_ms"), limit,
                    "ms") for name, limit in (("new", new), ("again", again)) if limit is not None]
