"""One run: one program records one scene on a display of its own."""

import dataclasses
import os
import shutil
import statistics
import time

from bench_kit import pictures
from bench_kit.processes import (TROUBLE, Failure, now_ns, peak_memory, shared_memory, thread_times, time_between,
                                 wait_until)


@dataclasses.dataclass
class Run:
    """What one run gave. Times are CLOCK_MONOTONIC, ns; the window is from before the first tick to after the last."""
    program: str
    scene: object
    path: str
    started: int
    stopped: int
    window: tuple
    cpu: float = 0.0  # milliseconds of CPU time a second in the window
    server_cpu: float = 0.0  # the same of the X server, or of the desktop
    bytes_per_second: float = 0.0
    pictures_per_second: float = 0.0
    memory: int = 0  # KiB
    units: list = dataclasses.field(default_factory=list)
    first_unit: int = 0
    last_unit: int = 0  # the one behind the window's last
    link: list = None
    drawn: dict = dataclasses.field(default_factory=dict)  # of ShownScene

    def pictures_in_window(self):
        """Of the link: those whose last NAL unit came in the window."""
        return [one for one in self.link if self.window[0] <= one.arrival <= self.window[1]]


def record(program, scene, folder, seconds, lead, tail=0.15, at_rest=None):
    """Runs `program` on `scene`: `lead` seconds of stillness, `seconds` of motion, `tail` seconds of stillness.

    `at_rest`: called with the display before the end, when nothing is sent any more.
    """
    os.makedirs(folder, exist_ok=True)
    ticks = scene.ticks(seconds)
    shown, is_started = None, False
    with program.display_type(scene.size, folder) as display:
        try:
            shown = display.show(scene, ticks, folder)
            program.start(display, scene.size, folder)
            is_started = True

            def has_begun():
                if program.pid:
                    program.process.require_running()
                return program.position > 0

            wait_until(has_begun, 20, "the first picture of " + program.name)
            time.sleep(lead)
            if program.comes_to_rest:
                _wait_for_rest(program)
            before = _sample(program, display)
            started = shown.start()
            stopped = shown.wait_for_end()
            # The last tick's picture belongs to the motion; it is taken within a thirtieth of a second.
            time.sleep(0.05)
            after = _sample(program, display)
            memory_peak = peak_memory(program.pid) if program.pid else 0
            shared = shared_memory(program.pid) if program.pid else 0
            time.sleep(max(0, tail - 0.05))
            if at_rest:
                _wait_for_rest(program)
                at_rest(display)
            if program.pid:
                program.process.require_running()
        finally:
            if is_started:
                program.stop()
            if shown:
                shown.close()
    data, units = program.stream()
    path = os.path.join(folder, "stream.264")
    if program.link_pictures() is not None:
        with open(path, "wb") as file:
            file.write(data)
    elapsed = (after.time - before.time) / 1e9
    run = Run(program.name, scene, path, started, stopped, (before.time, after.time))
    run.cpu = time_between(before.program, after.program) / 1e6 / elapsed
    run.server_cpu = time_between(before.server, after.server) / 1e6 / elapsed
    run.bytes_per_second = (after.position - before.position) / elapsed
    run.memory, run.shared_memory = memory_peak, shared
    run.units, run.link, run.drawn = units, program.link_pictures(), shown.drawn
    run.first_unit = sum(1 for unit in units if unit.end <= before.position)
    run.last_unit = sum(1 for unit in units if unit.end <= after.position)
    run.pictures_per_second = (run.last_unit - run.first_unit) / elapsed
    return run


def _wait_for_rest(program):
    """Until nothing came for 0.6 s: what stands still is coded. Gives up, and goes on, after 12 s."""
    deadline = time.monotonic() + 12
    position, since = program.position, time.monotonic()
    while time.monotonic() < min(deadline, since + 0.6):
        time.sleep(0.02)
        if program.position != position:
            position, since = program.position, time.monotonic()


@dataclasses.dataclass
class Sample:
    time: int
    program: dict
    server: dict
    position: int


def _sample(program, display):
    times = thread_times(program.pid) if program.pid else {}
    return Sample(now_ns(), times, display.thread_times(), program.position)


def record_twice(say, make_program, scene, folder, seconds, lead, tail=0.15):
    """Like `record`; a run that fails is reported and repeated once."""
    for attempt in (1, 2):
        program = make_program()
        try:
            return record(program, scene, folder, seconds, lead, tail)
        except TROUBLE as error:
            say("%s on %s failed%s: %s" % (program.name, scene.name, "" if attempt == 1 else " again", error))
            shutil.rmtree(folder, ignore_errors=True)
            if attempt == 2:
                raise


@dataclasses.dataclass
class Quality:
    """Of the pictures in motion, against what was drawn."""
    psnr: float
    ssim: float
    pictures: int
    matrix: str
    #: How many counts were seen, each of them once or more often.
    counts: int


def quality(run, matrix, samples):
    """The quality in motion: pictures of evenly spread counts, each compared with the exact one. None for a scene whose
    counter stands still."""
    scene = run.scene
    counts, decoded = {}, 0
    for index, luma in enumerate(pictures.decode(run.path, scene.size)):
        if index >= run.last_unit:
            break
        decoded = index + 1
        if index >= run.first_unit:
            value = pictures.counter(luma)
            if value:
                counts.setdefault(value, index)
    # Pictures are told apart by their place in the stream: one that is missing would shift all others.
    if decoded < run.last_unit:
        raise Failure("%d of %d pictures of %s's stream were decoded" % (decoded, run.last_unit, run.program))
    if not counts:
        return None
    known = sorted(counts)
    samples = min(samples, len(known))
    chosen = {known[int((step + 0.5) * len(known) / samples)] for step in range(samples)}
    wanted = {counts[count]: count for count in chosen}
    exact = scene.pictures([wanted[index] * scene.facts.ticks_per_count for index in sorted(wanted)])
    results = []
    for index, luma in enumerate(pictures.decode(run.path, scene.size)):
        if index not in wanted:
            if len(results) == len(wanted):
                break
            continue
        picture = next(exact)
        if matrix is None:
            matrix = max(pictures.MATRICES, key=lambda name: _compare(luma, picture, name, scene)[0])
        results.append(_compare(luma, picture, matrix, scene))
    exact.close()
    return Quality(sum(one[0] for one in results) / len(results), sum(one[1] for one in results) / len(results),
                   len(results), matrix, len(counts))


def _compare(luma, picture, matrix, scene):
    exact = pictures.luma_of(picture, matrix)
    seen = pictures.masked(luma, exact, scene.facts.pointer)
    return pictures.psnr(seen, exact), pictures.ssim(seen, exact)


def length(scene, options):
    """Seconds that a scene moves. Stillness has a keep-alive each 2.5 s: whole numbers of them."""
    return 5.0 if scene.name == "idle" and not options.quick else options.seconds


def in_turns(names, runs):
    """(number, name) of each run: programs take turns, and on every other run in the opposite order."""
    for number in range(runs):
        for name in names if number % 2 == 0 else reversed(names):
            yield number, name


class Summary:
    """The medians of a program's runs on a scene, and the most memory, in MB of 10^6 bytes; `runs` are pairs of a Run and
    its Quality, which a scene whose counter stands still doesn't have."""

    #: CPU time below this can't be told from nothing.
    RESOLUTION = 0.01

    def __init__(self, runs):
        self.cpu, self.server, self.pictures, self.bytes = (median([getattr(run, name) for run, _ in runs]) for name in (
            "cpu", "server_cpu", "pictures_per_second", "bytes_per_second"))
        self.cpu_range = (min(run.cpu for run, _ in runs), max(run.cpu for run, _ in runs))
        self.memory, self.shared = (max(getattr(run, name) for run, _ in runs) * 1024 / 1e6
                                    for name in ("memory", "shared_memory"))
        found = [(one.psnr, one.ssim, one.counts / ((run.window[1] - run.window[0]) / 1e9)) for run, one in runs if one]
        #: `new`: pictures per second with another counter.
        self.psnr, self.ssim, self.new = map(median, zip(*found)) if found else (None, None, 0.0)

    def times(self, other):
        """How many times the other one's CPU time this takes."""
        return self.cpu / max(other.cpu, self.RESOLUTION)


def median(values):
    return statistics.median(values) if values else 0.0
