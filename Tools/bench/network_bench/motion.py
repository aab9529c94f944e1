"""A course with a moving scene: viewers watch while their paths change."""

import statistics
import time

from bench_kit import analysis, sharpness
from bench_kit.course import Stage
from bench_kit.processes import Failure

#: The scene may draw its last tick so many seconds after its time.
LATEST = 0.25
#: Whole pictures that are kept for each phase.
SAMPLES = 15


def measure(bench, course, folder, seed, stage_type=Stage):
    """Runs a course once, on a stage of this type; gives its figures."""
    scene = bench.scene(course.scene)
    if not scene.facts.moving[2]:
        raise Failure("nothing moves in the scene %s" % course.scene)
    with stage_type(bench, course, folder, seed) as stage:
        stage.make_paths(course.narrow_viewers + course.clean_viewers)
        stage.make_room(scene, scene.ticks(bench.options.lead + course.seconds + 0.5))
        stage.make_viewers()
        began = stage.room.shown.start() / 1e9
        timeline = analysis.Timeline(began, scene.facts)
        windows = schedule(stage, course, began + bench.options.lead)
        stage.follow(windows[0][1] - 0.1)
        for phase, start, end in windows:
            for viewer in stage.viewers:
                viewer.sample_every(0 if viewer.is_light else max(1.0, phase.seconds / SAMPLES))
            stage.follow(end)
        late = stage.room.shown.wait_for_end() / 1e9 - began - stage.room.shown.seconds
        time.sleep(0.5)
        for viewer in stage.viewers:
            viewer.take()
        reports = [path.report() for path in stage.paths]
        host = [dict(phase=phase.name, **stage.host_figures(start, end)) for phase, start, end in windows]
        viewers = [_figures(viewer, report, scene, timeline, windows)
                   for viewer, report in zip(stage.viewers, reports)]
        for viewer in stage.viewers:
            bench.keep_records(folder, viewer, began)
        bench.keep(folder, "host", stage.samples)
        bench.keep(folder, "paths", reports)
    if late > LATEST:
        raise Failure("the scene fell behind by %.2f s: this machine is too busy to measure" % late)
    return {"viewers": viewers, "host": host, "scene_late_ms": late * 1000, "busy": stage.busy(),
            "path_late_p99_ms": max(report[way]["late_p99_ms"] for report in reports for way in report)}


def schedule(stage, course, start):
    """Tells every path when to change; gives (phase, start, end) of each."""
    windows = []
    for phase in course.narrow:
        windows.append((phase, start, start + phase.seconds))
        for number, path in enumerate(stage.paths):
            own = phase if number < course.narrow_viewers else course.clean
            path.change(start, phase.name, own.down, own.up)
        start += phase.seconds
    for path in stage.paths:
        path.change(start, "after", course.clean.down, course.clean.up)
    return windows


def _figures(viewer, report, scene, timeline, windows):
    sharpness.measure(scene, viewer.samples, lambda one: timeline.whole(one["counter"], one["shown"]))
    shown = analysis.new_pictures(viewer.pictures, timeline)
    cumulative = analysis.Cumulative(viewer.statistics)
    kind = viewer.name.split("-")[0]
    phases = []
    for phase, start, end in windows:
        rate = phase.down["rate"] if kind == "narrow" else None
        counted = next(one for one in report["down"]["phases"] if one["phase"] == phase.name)
        psnr = [one["psnr"] for one in viewer.samples if start <= one["shown"] < end and "psnr" in one]
        phases.append({
            "phase": phase.name, "seconds": phase.seconds,
            **analysis.of_pictures(shown, timeline, start, end),
            **analysis.of_statistics(viewer.statistics, cumulative, start, end),
            **analysis.of_path(report["down"], counted, start, end, rate),
            **analysis.of_estimates(viewer.host_estimates, start, end, rate)})
        if not viewer.is_light:
            # Not the mean: if a picture was grabbed between two of the scene's requests, its counter is of another
            # tick than the rest.
            phases[-1].update(psnr_db=statistics.median(psnr) if psnr else None,
                              psnr_least_db=min(psnr) if psnr else None)
    return {"viewer": viewer.name, "kind": kind, "phases": phases, "facts": viewer.facts}
