"""CPU time and memory: every program on every scene, in turns."""

from bench_kit.limits import at_least, at_most
from bench_kit.processes import Failure
from bench_kit.recorders import Ours
from bench_kit.report import Section

from .casts import GStreamerCast, OursOnWayland, OursOnX11
from .limits import NEW_SHARE, WAYLAND_CPU, WAYLAND_MEMORY, WAYLAND_RATIO
from .run import Summary, in_turns, length, quality, record

NOTE = (
    "At equal quality: a quantizer of 23 for every picture, and nothing is refined. CPU and server: milliseconds of a "
    "second, from the kernel's account of the threads; the server is the X server, or the desktop's programs, with "
    "what the scene costs them. New pictures are those with another counter. PSNR: luma of pictures in motion, found "
    "by the drawn counter, against what was drawn, the pointer left out. Shared: the desktop's buffers, which a program "
    "has mapped; they aren't its own memory, and the limit is without them. Ratio: the program's CPU time by that of "
    "screenrelay on Wayland.")
COLUMNS = ["scene", "program", "CPU ms/s", "min-max", "server ms/s", "pictures/s", "new/s", "bytes/s", "peak MB",
           "of it shared", "PSNR dB", "ratio"]
#: These options are for such tables, and --help doesn't show them.
EQUAL = ["--constant-qp", "23", "--no-refinement"]
#: Pictures of a run whose quality is measured.
SAMPLES = 8


def cost(bench):
    report = bench.report
    section = Section("cost", "CPU time and memory", NOTE, COLUMNS)
    report.sections.append(section)
    capture = bench.program("screenrelay-capture")
    makers = [lambda: OursOnWayland(capture, EQUAL), lambda: GStreamerCast(True), lambda: GStreamerCast(False),
              lambda: OursOnX11(capture, EQUAL)]
    for name in bench.options.scenes:
        _scene(bench, report, section, bench.scene(name), makers)


def _scene(bench, report, section, scene, makers):
    options = bench.options
    results = {make().name: [] for make in makers}
    for number, make in in_turns(makers, options.runs):
        title = "%s on %s" % (make().name, scene.name)
        for found in bench.run_once(title, lambda folder, _: _run(
                make(), scene, folder, length(scene, options), options.lead), report.failures, number):
            results[make().name].append(found)
            bench.say("%s: %.1f ms/s, %.1f pictures/s" % (title, found[0].cpu, found[0].pictures_per_second))
    _add_rows(report, section, scene, {name: Summary(runs) for name, runs in results.items() if runs})


def _run(program, scene, folder, seconds, lead):
    run = record(program, scene, folder, seconds, lead)
    if scene.name == "pointer" and isinstance(program, Ours) and program.receiver.pointer_messages < 10 * seconds:
        raise Failure("%s has seen %d moves of the pointer" % (program.name, program.receiver.pointer_messages))
    # Where GStreamer's matrix isn't known, it is the one that fits best.
    return run, quality(run, program.matrix, SAMPLES)


def _add_rows(report, section, scene, summaries):
    ours = summaries.get(OursOnWayland.name)
    for name, one in summaries.items():
        ratio = one.times(ours) if ours else None
        section.add(scene.name, name, "%.2f" % one.cpu, "%.2f-%.2f" % one.cpu_range, "%.0f" % one.server,
                    "%.1f" % one.pictures, "%.1f" % one.new if one.psnr else "", "%.0f" % one.bytes,
                    "%.1f" % one.memory, "%.1f" % one.shared, "%.2f" % one.psnr if one.psnr else "",
                    "%.1f" % ratio if ratio and one is not ours else "")
        if name == "gstreamer" and ratio and scene.name in WAYLAND_RATIO:
            report.checks.append(at_least("%s: times less CPU than GStreamer" % scene.name, ratio,
                                          WAYLAND_RATIO[scene.name], "times"))
    if ours:
        if scene.name in WAYLAND_RATIO:
            # A slow compositor sends no receiver all that is drawn: that isn't capture's fault.
            most, whose = scene.facts.ticks_per_second / scene.facts.ticks_per_count, "those drawn"
            changes = summaries.get("gstreamer-changes")
            if changes and 0 < changes.new < most:
                most, whose = changes.new, "those of gstreamer-changes"
            report.checks.append(at_least("%s: new pictures, as a share of %s" % (scene.name, whose),
                                          ours.new / most, NEW_SHARE, "times"))
        if scene.name in WAYLAND_CPU:
            report.checks.append(at_most("%s: CPU time" % scene.name, ours.cpu, WAYLAND_CPU[scene.name], "ms/s"))
        report.checks.append(at_most("%s: peak memory of its own" % scene.name, ours.memory - ours.shared, WAYLAND_MEMORY, "MB"))
