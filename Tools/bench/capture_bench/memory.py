"""Peak memory: every scene, every chroma format, and by resolution."""

from bench_kit.limits import at_most
from bench_kit.report import Section

from .limits import MEMORY

RESOLUTIONS = [(1280, 720), (1920, 1080), (2560, 1440), (3840, 2160)]


def memory(bench):
    section = Section(
        "memory", "Peak memory",
        "The most that the capture process had resident (VmHWM), in MB of 10^6 bytes, with what it has mapped of the "
        "segment that it shares with the X server. While frames are disturbed, the whole segment has the frame's size.",
        ["size", "scene", "chroma", "peak MB"])
    bench.report.sections.append(section)
    formats = ["420", "444"] if bench.can("chroma") else ["420"]
    for format in formats:
        for name in bench.options.scenes:
            _peak(bench, section, name, format, (1920, 1080))
        for size in RESOLUTIONS:
            if size != (1920, 1080) and not (bench.options.quick and size[1] < 2160):
                for name in ("scroll", "full"):
                    _peak(bench, section, name, format, size)


def _peak(bench, section, name, format, size):
    arguments = ["--chroma", format] if bench.can("chroma") else []
    run = bench.record(lambda: bench.ours(*arguments), bench.scene(name, size), min(2.0, bench.options.seconds))
    bench.forget_run(run)
    peak = run.memory * 1024 / 1e6
    section.add("%dx%d" % size, name, "4:%s:%s" % (format[1], format[2]), "%.1f" % peak)
    bench.say("memory, %s, %s, %dx%d: %.1f MB" % (name, format, *size, peak))
    if (size, format) in MEMORY:
        title = "memory, %s, %s, %dx%d" % (name, format, *size)
        bench.report.checks.append(at_most(title, peak, MEMORY[size, format], "MB"))
