"""One run: both viewers watch one share, at the host while their paths change, or at a server of others."""

import time
import types

from bench_kit import analysis, framebuffer
from bench_kit.counts import first_times, new_counts
from bench_kit.course import Stage
from bench_kit.processes import now_ns
from bench_kit.room import Room
from bench_kit.watching import Watcher
from network_bench.motion import schedule

from .figures import Painted, of_phase
from .page import PageServer
from .viewers import Chromium, PlainChromium, View


def measure(bench, course, folder, seed):
    """Runs the course once at the host, and gives its figures."""
    scene = bench.scene(course.scene)
    with Stage(bench, course, folder, seed) as stage:
        stage.make_paths(2, is_equal=True)
        stage.make_room(scene, _ticks(stage, scene), display_options=framebuffer.options(folder))
        for path, kind in zip(stage.paths, (View, Chromium)):
            path.change(now_ns() / 1e9, "before", course.narrow[0].down, course.narrow[0].up)
            _make_viewer(stage, scene, kind, path, stage.room.link(path.host_address))
        seen = _watch(stage, scene)
        reports = [path.report() for path in stage.paths]
        for viewer, report in zip(seen.viewers, reports):
            for figures, (phase, start, end) in zip(viewer["phases"], seen.windows):
                counted = next(one for one in report["down"]["phases"] if one["phase"] == phase.name)
                estimates = next(one.host_estimates for one in stage.viewers if one.name == viewer["viewer"])
                figures.update(analysis.of_path(report["down"], counted, start, end, phase.down["rate"]),
                               **analysis.of_estimates(estimates, start, end, phase.down["rate"]))
        late = max(report[way]["late_p99_ms"] for report in reports for way in report)
        return dict(_document(stage, seen), path_late_p99_ms=late)


def measure_at(bench, course, folder, server_type):
    """Runs the course once at a server of this type, and gives its figures."""
    scene = bench.scene(course.scene)
    with Stage(bench, course, folder, 0) as stage:
        server = stage.add(server_type(folder))
        server.start()
        stage.room = stage.add(Room(
            bench, scene, _ticks(stage, scene), None, folder, course.bit_rate, address=server.address,
            display_options=framebuffer.options(folder), share_options=server.share_options))
        server.open(stage.room.printed_link)
        page = stage.add(PageServer(server.page_endpoint, server.answers))
        # No namespace, and no address that the host would name.
        here = types.SimpleNamespace(prefix=[], viewer_address="nowhere")
        for kind, link in ((View, server.whep), (PlainChromium, page.link)):
            _make_viewer(stage, scene, kind, here, link)
        seen = _watch(stage, scene)
        server.require_running()
        return _document(stage, seen)


def _ticks(stage, scene):
    return scene.ticks(stage.bench.options.lead + stage.course.seconds + 0.5)


def _make_viewer(stage, scene, kind, path, link):
    viewer = stage.add(kind(path, stage.folder, scene.size))
    viewer.open(stage.bench.program("screenrelay"), link)
    viewer.wait_until_playing()
    viewer.wait_until_seen()
    stage.viewers.append(viewer)


def _watch(stage, scene):
    """Lets the scene move through all phases. Gives each viewer's figures, the windows, and how closely it looked."""
    watcher = stage.add(Watcher(stage.folder, [viewer.watched for viewer in stage.viewers], stage.folder))
    windows = schedule(stage, stage.course, stage.room.shown.start() / 1e9 + stage.bench.options.lead)
    stage.follow(windows[0][1])
    looks = [_look(stage)]
    for _, _, end in windows:
        stage.follow(end)
        looks.append(_look(stage))
    stage.room.shown.wait_for_end()
    # What was painted last is still under way.
    time.sleep(0.5)
    seen = watcher.finish()
    drawn = first_times(seen["drawn"])
    painted = Painted(drawn, scene.facts.ticks_per_count / scene.facts.ticks_per_second)
    viewers = [_figures(viewer, new_counts(shown, drawn), painted, windows, looks)
               for viewer, shown in zip(stage.viewers, seen["shown"])]
    return types.SimpleNamespace(viewers=viewers, windows=windows, gap_p99=seen["gap_p99_ms"],
                                 gap_max=seen["gap_max_ms"])


def _document(stage, seen):
    host = [dict(phase=phase.name, **stage.host_figures(start, end)) for phase, start, end in seen.windows]
    return {"viewers": seen.viewers, "host": host, "busy": stage.busy(), "look_p99_ms": seen.gap_p99,
            "look_max_ms": seen.gap_max}


def _look(stage):
    return {viewer.kind: viewer.look() for viewer in stage.viewers}


def _figures(viewer, shown, painted, windows, looks):
    phases = []
    for place, (phase, start, end) in enumerate(windows):
        own = [one[viewer.kind] for one in looks[place:place + 2]]
        phases.append({"phase": phase.name, "seconds": phase.seconds,
                       **of_phase(shown, painted, viewer.said, own, start, end)})
    return {"viewer": viewer.name, "kind": viewer.kind, "phases": phases}
