"""From painting to the host: how long a picture takes until all of it has arrived."""

import statistics

from bench_kit import framebuffer, pictures
from bench_kit.analysis import share
from bench_kit.counts import first_times
from bench_kit.desktop import WaylandDesktop
from bench_kit.display import Display
from bench_kit.limits import at_most
from bench_kit.processes import Failure, wait_until
from bench_kit.report import Section
from bench_kit.shown_scene import ShownScene
from bench_kit.watching import Watcher

from .casts import OursOnWayland, OursOnX11, Receiver
from .limits import ABOVE_X11
from .run import in_turns, record

#: Those whose counter tells pictures apart.
SCENES = ["typing", "scroll", "full"]


def paint(bench):
    report = bench.report
    section = Section(
        "paint", "From painting to the host",
        "Milliseconds from painting to the arrival of the picture's last NAL unit, by default settings; medians of the "
        "runs' values. Painting: on X11, the counter's change in the server's framebuffer, which is read twice a "
        "millisecond; on Wayland, the time that the compositor gives its picture. A bare receiver is GStreamer's "
        "pipewiresrc alone, which gets the pictures of the same screen cast at the same time: what it takes is the "
        "compositor's, which reads the picture back after that time. The last "
        "column is from when the client handed its picture to the compositor.",
        ["scene", "program", "pictures", "p50 ms", "p95 ms", "from the client p50 ms"])
    report.sections.append(section)
    for name in bench.options.scenes:
        if name in SCENES:
            _scene(bench, report, section, bench.scene(name))


def _scene(bench, report, section, scene):
    options, capture = bench.options, bench.program("screenrelay-capture")
    makers = {OursBesideReceiver: lambda: OursBesideReceiver(capture), OursWatched: lambda: OursWatched(capture)}
    results = {one: [] for one in (*makers, Receiver)}
    for number, one in in_turns(makers, options.runs):
        title = "paint, %s on %s" % (one.name, scene.name)
        for found in bench.run_once(
                title, lambda folder, _: _measure(makers[one](), scene, folder, options), report.failures, number):
            for program, figures in found.items():
                results[program].append(figures)
            bench.say("%s: p50 %s ms" % (title, ", ".join("%.1f" % share(one, 0.5) for one, _ in found.values())))
    halves = {}
    for one, runs in results.items():
        if runs:
            halves[one], most = (statistics.median(share(delays, part) for delays, _ in runs) for part in (0.5, 0.95))
            whole = statistics.median(share(whole, 0.5) for _, whole in runs)
            section.add(scene.name, one.name, sum(len(delays) for delays, _ in runs), "%.2f" % halves[one],
                        "%.2f" % most, "%.2f" % whole if one is OursBesideReceiver else "")
    if len(halves) == len(results):
        report.checks.append(at_most(
            "%s: paint to host at p50, without a bare receiver's, above X11's" % scene.name,
            halves[OursBesideReceiver] - halves[Receiver] - halves[OursWatched], ABOVE_X11, "ms"))


def _measure(program, scene, folder, options):
    """By the program, milliseconds of each picture in motion that has arrived: since it was painted, and since it was
    drawn."""
    run = record(program, scene, folder, options.seconds, options.lead)
    since = since_painted if program.display_type is WaylandDesktop else since_drawn
    arrived = {}
    for one, luma in zip(run.link, pictures.decode(run.path, run.scene.size)):
        count = pictures.counter(luma)
        if count in run.drawn:
            arrived.setdefault(count, one)
    found = [(since(one, run.drawn[count]), since_drawn(one, run.drawn[count])) for count, one in arrived.items()]
    if not found or None in found[0]:
        raise Failure("no count of the scene has arrived, or none with its times")
    measured = {type(program): ([one for one, _ in found], [whole for _, whole in found])}
    if isinstance(program, OursBesideReceiver):
        delays = program.beside.delays(run.started, run.window[1])
        measured[Receiver] = (delays, delays)
    return measured


def since_drawn(one, drawn):
    return (one.arrival - drawn) / 1e6


def since_painted(one, _):
    """Since the time that the compositor gave the picture, which the capture link passes on."""
    return None if one.painted is None else (one.arrival - one.painted) / 1e6


class OursBesideReceiver(OursOnWayland):
    """Our capture, and a bare receiver of its screen cast."""

    def start(self, display, size, folder):
        super().start(display, size, folder)
        try:
            wait_until(lambda: self.position > 0, 20, "the first picture")
            self.beside = Receiver()
            self.beside.start(display, size, folder)
        except BaseException:
            super().stop()
            raise

    def stop(self):
        self.beside.stop()
        super().stop()


class WatchedDisplay(Display):
    """Xvfb with a framebuffer that is watched."""

    def __init__(self, size, folder):
        super().__init__(size, folder, framebuffer.options(folder))

    def show(self, scene, ticks, folder):
        return WatchedScene(scene, self, ticks, folder)


class WatchedScene(ShownScene):
    def __init__(self, scene, display, ticks, folder):
        super().__init__(scene, display, ticks, folder)
        try:
            self.watcher = Watcher(folder, [], folder)
        except BaseException:
            super().close()
            raise

    def wait_for_end(self):
        stopped = super().wait_for_end()
        times = first_times(self.watcher.finish()["drawn"])
        self.drawn = {count: int(seconds * 1e9) for count, seconds in times.items()}
        return stopped

    def close(self):
        self.watcher.close()
        super().close()


class OursWatched(OursOnX11):
    display_type = WatchedDisplay
