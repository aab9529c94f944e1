"""CPU time and memory: every program on every scene, in turns."""

import statistics

from capture_bench.limits import at_least, at_most
from capture_bench.processes import Failure
from capture_bench.programs import Ours
from capture_bench.report import Section
from capture_bench.run import quality, record

from .limits import CPU, CPU_RATIO, MEMORY, NEW_SHARE
from .programs import GStreamerCast, OursOnWayland, OursOnX11

NOTE = (
    "At equal quality: a quantizer of 23 for every picture, and nothing is refined. CPU and server: milliseconds of a "
    "second, from the kernel's account of the threads; the server is the X server, or the desktop's programs, with "
    "what the scene costs them. New pictures are those with another counter. PSNR: luma of pictures in motion, found "
    "by the drawn counter, against what was drawn, the pointer left out. Shared: the desktop's buffers, which a program "
    "has mapped; they aren't its own memory, and the limit is without them. Ratio: the program's CPU time by that of "
    "screenrelay on Wayland.")
COLUMNS = ["scene", "program", "CPU ms/s", "min-max", "server ms/s", "pictures/s", "new/s", "bytes/s", "peak MB",
           "of it shared", "PSNR dB", "ratio"]
#: CPU time below this can't be told from nothing.
RESOLUTION = 0.01
#: These options are for such tables, and --help doesn't show them.
EQUAL = ["--constant-qp", "23", "--no-refinement"]
#: Pictures of a run whose quality is measured.
SAMPLES = 8


def cost(bench, report):
    section = Section("cost", "CPU time and memory", NOTE, COLUMNS)
    report.sections.append(section)
    capture = bench.program("screenrelay-capture")
    makers = [lambda: OursOnWayland(capture, EQUAL), lambda: GStreamerCast(True), lambda: GStreamerCast(False),
              lambda: OursOnX11(capture, EQUAL)]
    for name in bench.options.scenes:
        _scene(bench, report, section, bench.scene(name), makers)


def _scene(bench, report, section, scene, makers):
    options = bench.options
    # Stillness has a keep-alive each 2.5 s: whole numbers of them.
    seconds = 5.0 if scene.name == "idle" and not options.quick else options.seconds
    results = {make().name: [] for make in makers}
    for number in range(options.runs):
        for make in makers if number % 2 == 0 else reversed(makers):
            title = "%s on %s, run %d" % (make().name, scene.name, number + 1)
            found = bench.run_twice(title, lambda folder: _run(make(), scene, folder, seconds, options.lead))
            if found is None:
                report.failures.append(title)
                continue
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
        ratio = one.cpu / max(ours.cpu, RESOLUTION) if ours else None
        section.add(scene.name, name, "%.2f" % one.cpu, "%.2f-%.2f" % one.cpu_range, "%.0f" % one.server,
                    "%.1f" % one.pictures, "%.1f" % one.new if one.psnr else "", "%.0f" % one.bytes,
                    "%.1f" % one.memory, "%.1f" % one.shared, "%.2f" % one.psnr if one.psnr else "",
                    "%.1f" % ratio if ratio and one is not ours else "")
        if name == "gstreamer" and ratio and scene.name in CPU_RATIO:
            report.checks.append(at_least("%s: times less CPU than GStreamer" % scene.name, ratio,
                                          CPU_RATIO[scene.name], "times"))
    if ours:
        if scene.name in CPU_RATIO:
            # A slow compositor sends no receiver all that is drawn: that isn't capture's fault.
            most, whose = scene.facts.ticks_per_second / scene.facts.ticks_per_count, "those drawn"
            changes = summaries.get("gstreamer-changes")
            if changes and 0 < changes.new < most:
                most, whose = changes.new, "those of gstreamer-changes"
            report.checks.append(at_least("%s: new pictures, as a share of %s" % (scene.name, whose),
                                          ours.new / most, NEW_SHARE, "times"))
        if scene.name in CPU:
            report.checks.append(at_most("%s: CPU time" % scene.name, ours.cpu, CPU[scene.name], "ms/s"))
        report.checks.append(at_most("%s: peak memory of its own" % scene.name, ours.memory - ours.shared, MEMORY, "MB"))


class Summary:
    """The medians of a program's runs on a scene, and the most memory."""

    def __init__(self, runs):
        def median(value):
            return statistics.median(value(run) for run, _ in runs)

        self.cpu = median(lambda run: run.cpu)
        self.cpu_range = (min(run.cpu for run, _ in runs), max(run.cpu for run, _ in runs))
        self.server = median(lambda run: run.server_cpu)
        self.pictures = median(lambda run: run.pictures_per_second)
        self.bytes = median(lambda run: run.bytes_per_second)
        self.memory, self.shared = (
            max(value(run) for run, _ in runs) * 1024 / 1e6
            for value in (lambda run: run.memory, lambda run: run.shared_memory))
        # A scene whose counter stands still has none of them.
        found = [(quality.psnr, quality.counts / ((run.window[1] - run.window[0]) / 1e9))
                 for run, quality in runs if quality]
        self.psnr, self.new = (statistics.median(values) for values in zip(*found)) if found else (None, 0.0)
