"""The tables of OBS as a publisher."""

from bench_kit.report import table

from .obs import PAGE, REFUSAL
from .obs_stage import WAYS

COLUMNS = ["publisher", "new pictures per second: sent, at a player", "publisher itself: p50, p95",
           "added by the host: p50, p95", "from the screen to a player: p50, p95", "missing", "tone"]


def tell_obs(figures):
    lines = table(COLUMNS, [[way.title, *_cells(figures.get(way.title))] for way in WAYS])
    if page := figures.get(PAGE):
        lines += ["", *table(["OBS with B-frames over RTMP, in Chromium", "result"], _page(page))]
    if refusal := figures.get(REFUSAL):
        lines += ["", *table(["OBS with a wrong stream key", "result"], _refusal(refusal))]
    busy = [one["busy"] for one in figures.values() if "busy" in one]
    return lines + (["", "This machine was %.0f to %.0f %% busy." % (100 * min(busy), 100 * max(busy))] if busy else [])


def _cells(one):
    if not one:
        return ["failed", "", "", "", "", ""]
    if "skipped" in one:
        return ["not tried: " + one["skipped"], "", "", "", "", ""]
    is_tapped = "added_p50" in one
    pictures = "%.1f, %.1f" % (one["sent_per_second"], one["per_second"]) if is_tapped else "%.1f" % one["per_second"]
    return [pictures, *(_delay(one, "own") if is_tapped else [""]), *(_delay(one, "added") if is_tapped else [""]),
            *_delay(one, "total"), "%d" % one["missing"] if is_tapped else "", _tone(one)]


def _delay(one, name):
    return ["%.1f, %.1f ms" % (one[name + "_p50"], one[name + "_p95"])]


def _tone(one):
    return "%.1f Hz, %.0f %%" % (one["hertz"], 100 * one["tone_share"]) if "hertz" in one else ""


def _page(one):
    return [["new pictures per second", "%.1f" % one["per_second"]],
            ["from the screen to the video in the page: p50, p95", *_delay(one, "total")], ["tone", _tone(one)],
            ["OBS is killed: until it connects again, then until a new picture",
             "%.1f s, %.1f s" % (one["restart"], one["back"])],
            ["the track, its SSRC and the connection after that", "the same" if one["is_same"] else "others"]]


def _refusal(one):
    return [["its log", one["said"].replace("|", "\\|")], ["OBS", "keeps running" if one["runs"] else "ends"],
            ["connections in all, publishers", "%d, %d" % (one["tries"], one["publishers"])]]
