"""What viewers have to get through difficult networks; every limit is here and nowhere else."""

from bench_kit.limits import Check, at_least, at_most

#: Seconds from opening the page to the first picture behind a proxy.
FIRST = 5
#: Milliseconds: typing on a clean path, half of the pictures; a scrolled text at 1 Mbit/s, 95 of 100 pictures.
TYPING, NARROW_DELAY = 60, 700
#: Pictures a second on a clean path: of a scrolled text that has 30, and of typing that has 10. Delays are those of
#: the pictures that were shown, and so say nothing of the others.
PICTURES, TYPED = 25, 9
SCENES = {"scroll": "scrolled text", "typing": "typing"}
#: Seconds from asking the host for pictures to the first one without UDP, of browsers that can do without.
BLOCKED = 3
#: What the page says of a browser that can't take these ways at all: then the next one is shown, and its time.
NO_TCP = "TCP: not allowed by this browser."
NO_H264 = "This browser can't play H.264 over WebRTC, so only the WebSocket path works."
#: And what it says of the ways.
PATHS = {"proxy": "WebSocket", "blocked": "TCP (direct)", "direct": "UDP (direct)"}


def checks(row):
    """The checks of one row of a table."""
    return {"proxy": _proxy, "blocked": _blocked, "direct": _direct}[row.way.course](row, row.way.title + ": ")


def _most(what, value, limit, unit):
    """Like `at_most`; what wasn't seen at all is missed."""
    return Check(what, "never", "at most %g %s" % (limit, unit), False) if value is None else at_most(
        what, value, limit, unit)


def _path(row, title):
    wanted = PATHS[row.way.course]
    if NO_H264 in row.said("notes") or (row.way.course == "blocked" and NO_TCP in row.said("notes")):
        wanted = PATHS["proxy"]
    return Check(title + "path", ", ".join(row.said("path")), wanted, row.said("path") == [wanted])


def _pictures(row, title, scene="scroll", limit=PICTURES):
    pictures = row.value(scene, "clean", "pictures_per_second") or 0
    return at_least("%s%s, pictures" % (title, SCENES[scene]), pictures, limit, "a second")


def _proxy(row, title):
    return [
        _path(row, title), _most(title + "first picture", row.fact("first_picture_s"), FIRST, "s after opening"),
        _most(title + "typing, delay p50", row.value("typing", "clean", "delay_p50_ms"), TYPING, "ms"),
        _pictures(row, title, "typing", TYPED), _pictures(row, title),
        _most(title + "scrolled text at 1 Mbit/s, delay p95", row.value("scroll", "1 Mbit/s", "delay_p95_ms"),
              NARROW_DELAY, "ms")]


def _blocked(row, title):
    limited = [] if NO_TCP in row.said("notes") else [
        _most(title + "first picture", row.fact("asked_s"), BLOCKED, "s after asking")]
    return [_path(row, title), *limited]


def _direct(row, title):
    counted = [] if NO_H264 in row.said("notes") else [
        at_least(title + "decoded, by getStats", row.value("scroll", "clean", "decoded") or 0, 1, "pictures")]
    return [_path(row, title), _pictures(row, title), *counted]
