"""A still screen on a narrow link, and then all of it changes at once."""

import os

from bench_kit import sharpness
from bench_kit.course import Stage
from bench_kit.processes import now_ns
from bench_kit.shown_scene import ShownScene

#: What stands still first: its counter shows 1, and that of what replaces it 0.
STILL = "typing"
#: Seconds after the repaint in which it is watched.
WATCHED = 20.0


def measure(bench, course, folder, seed):
    """Runs a course once; gives its figures."""
    scene, still = bench.scene(course.scene), bench.scene(STILL)
    phase = course.narrow[0]
    with Stage(bench, course, folder, seed) as stage:
        stage.make_paths(course.narrow_viewers + course.clean_viewers)
        stage.make_room(still, still.facts.ticks_per_count, has_moved=True)
        stage.make_viewers()
        begin = now_ns() / 1e9
        for number, path in enumerate(stage.paths):
            own = phase if number < course.narrow_viewers else course.clean
            path.change(begin, phase.name, own.down, own.up)
        stage.follow(begin + phase.seconds)
        for viewer in stage.viewers:
            viewer.sample_every(0 if viewer.is_light else 0.5)
        # A window of its own over all of the screen; it says "ready" when the X server has drawn it.
        over = os.path.join(folder, "over")
        os.makedirs(over, exist_ok=True)
        cover = ShownScene(scene, stage.room.display, 1, over)
        painted = now_ns() / 1e9
        stage.callback(cover.close)
        stage.follow(painted + WATCHED)
        for viewer in stage.viewers:
            viewer.sample_now()
        viewers = []
        for viewer in stage.viewers:
            kind = viewer.name.split("-")[0]
            rate = phase.down["rate"] if kind == "narrow" else None
            viewers.append({"viewer": viewer.name, "kind": kind,
                            "phases": [dict(phase=phase.name, **_figures(viewer, scene, painted, rate))]})
            bench.keep_records(folder, viewer, painted)
        late = max(path.report()["down"]["late_p99_ms"] for path in stage.paths)
    return {"viewers": viewers, "host": [], "path_late_p99_ms": late}


def _figures(viewer, scene, painted, rate):
    after = [one for one in viewer.pictures if one["shown"] > painted and one["counter"] == 0]
    if not after:
        return {"shown_after_ms": None}
    first = after[0]["shown"]
    # What had passed when the picture was there, in steps of 50 ms.
    size = sum(count for time, count in viewer.path.report()["down"]["bytes"] if painted <= time < first)
    needed = size * 8 / rate if rate else 0.0
    samples = [one for one in viewer.samples if one["shown"] >= first and one["counter"] == 0]
    for one in viewer.samples:
        if one not in samples:
            os.remove(one["file"])
    sharpness.measure(scene, samples, lambda one: 0)
    values = [(one["shown"] - painted, one["psnr"]) for one in samples if "psnr" in one]
    final = values[-1][1] if values else None
    return {
        "shown_after_ms": (first - painted) * 1000, "bytes": size, "link_needs_ms": needed * 1000,
        "beyond_link_ms": (first - painted - needed) * 1000,
        "first_psnr_db": values[0][1] if values else None, "final_psnr_db": final,
        "sharp_after_ms": next((time * 1000 for time, value in values if value >= final - 1), None) if values else None}
