"""One run: both viewers watch one share while their paths change."""

import time

from capture_bench.processes import now_ns
from latency_bench import framebuffer
from latency_bench.counts import first_times, new_counts
from latency_bench.watching import Watcher
from network_bench import analysis
from network_bench.course import Stage
from network_bench.motion import schedule

from .figures import Painted, of_phase
from .viewers import Chromium, View


def measure(bench, course, folder, seed):
    """Runs the course once, and gives its figures."""
    scene = bench.scene(course.scene)
    with Stage(bench, course, folder, seed) as stage:
        stage.make_paths(2, is_equal=True)
        stage.make_room(scene, scene.ticks(bench.options.lead + course.seconds + 0.5),
                        display_options=framebuffer.options(folder))
        _make_viewers(stage, scene)
        watcher = Watcher(folder, [viewer.watched for viewer in stage.viewers], folder)
        stage.callback(watcher.close)
        began = stage.room.shown.start() / 1e9
        windows = schedule(stage, course, began + bench.options.lead)
        stage.follow(windows[0][1])
        looks = [_look(stage)]
        for _, _, end in windows:
            stage.follow(end)
            looks.append(_look(stage))
        stage.room.shown.wait_for_end()
        # What was painted last is still under way.
        time.sleep(0.5)
        seen, reports = watcher.finish(), [path.report() for path in stage.paths]
        drawn = first_times(seen["drawn"])
        painted = Painted(drawn, scene.facts.ticks_per_count / scene.facts.ticks_per_second)
        viewers = [_figures(viewer, new_counts(shown, drawn), painted, report, windows, looks)
                   for viewer, shown, report in zip(stage.viewers, seen["shown"], reports)]
        host = [dict(phase=phase.name, **stage.host_figures(start, end)) for phase, start, end in windows]
    return {"viewers": viewers, "host": host, "busy": stage.busy(), "look_p99_ms": seen["gap_p99_ms"],
            "look_max_ms": seen["gap_max_ms"],
            "path_late_p99_ms": max(report[way]["late_p99_ms"] for report in reports for way in report)}


def _make_viewers(stage, scene):
    first = stage.course.narrow[0]
    for path, kind in zip(stage.paths, (View, Chromium)):
        path.change(now_ns() / 1e9, "before", first.down, first.up)
        viewer = kind(path, stage.folder, scene.size)
        stage.callback(viewer.close)
        viewer.open(stage.bench.program("screenrelay"), stage.room.link(path.host_address))
        viewer.wait_until_playing()
        viewer.wait_until_seen()
        stage.viewers.append(viewer)


def _look(stage):
    return {viewer.kind: viewer.look() for viewer in stage.viewers}


def _figures(viewer, shown, painted, report, windows, looks):
    phases = []
    for place, (phase, start, end) in enumerate(windows):
        counted = next(one for one in report["down"]["phases"] if one["phase"] == phase.name)
        phases.append({
            "phase": phase.name, "seconds": phase.seconds,
            **of_phase(shown, painted, viewer.said, [one[viewer.kind] for one in looks[place:place + 2]], start, end),
            **analysis.of_path(report["down"], counted, start, end, phase.down["rate"]),
            **analysis.of_estimates(viewer.host_estimates, start, end, phase.down["rate"])})
    return {"viewer": viewer.name, "kind": viewer.kind, "phases": phases}
