"""One run: a scene on a display of its own, and a sender that captures it."""

import os
import shutil
import signal
import time

from bench_kit import framebuffer
from bench_kit.display import Display
from bench_kit.processes import Process, now_ns, peak_memory, thread_times, time_between, wait_until

from . import figures
from .figures import ROW_STEP, Moment
from .painted import Watcher

#: Moments of motion that quality is measured at, and how many snapshots a moment has, so far apart.
MOMENTS, BURST, BETWEEN = 8, 5, 0.007
#: Seconds from the end of motion to the last snapshot.
AFTER = 1.0


class Actors:
    """The processes of a scene, each in a group of its own, so that what they have started is stopped with them."""

    def __init__(self, display, folder):
        self.display, self.folder, self.processes = display, folder, []

    def start(self, *command, **environment):
        name = os.path.basename(command[0])
        log = os.path.join(self.folder, "%d-%s.log" % (len(self.processes), name))
        environment = {"DISPLAY": self.display.name, "HOME": self.folder, "XDG_RUNTIME_DIR": self.folder,
                       "LC_ALL": "C.UTF-8", "NO_AT_BRIDGE": "1", **environment}
        process = Process(name, ["setsid", *command], log, environment)
        self.processes.append(process)
        return process

    def signal(self, which):
        for process in self.processes:
            # `setsid` leads the group from its exec on.
            if process.is_running() and os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, which)

    def require_running(self):
        for process in self.processes:
            process.require_running()

    def close(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        for process in self.processes:
            process.stop()


def run(scene, sender, options, folder):
    """The figures of one run of a sender."""
    os.makedirs(folder, exist_ok=True)
    with Display(scene.size, folder, framebuffer.options(folder)) as display:
        actors, watcher = Actors(display, folder), None
        try:
            scene.start(actors)
            watcher = Watcher(display)
            sender.start(display, scene.size, folder)
            wait_until(lambda: sender.position > 0, 20, "the first picture")
            wait_until(lambda: len(watcher.times) > scene.paints, 30, "something on the screen of " + scene.name)
            # On a slow link, the first picture takes seconds.
            time.sleep(scene.lead + 3_000_000 / options.bit_rate)
            found = _measure(scene, options, folder, sender, watcher, actors)
        finally:
            if watcher:
                watcher.close()
            actors.close()
            sender.stop()
    if not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _measure(scene, options, folder, sender, watcher, actors):
    screen = framebuffer.Screen(folder)
    actors.require_running()
    before = thread_times(sender.pid)
    window, moving = _watch(screen, scene.size, options.seconds)
    worked = time_between(before, thread_times(sender.pid))
    actors.require_running()
    actors.signal(signal.SIGSTOP)
    time.sleep(AFTER)
    rest = Moment([_snapshot(screen, scene.size)], is_rest=True)
    received = sender.pictures(watcher.times)
    found = figures.of_motion(received, list(watcher.times), window, options.bit_rate)
    found["share"] = found["mbit"] * 1e6 / options.bit_rate
    found["cpu"] = worked / (window[1] - window[0]) * 100
    found["memory"] = peak_memory(sender.pid) / 1024
    data = sender.stream()[0]
    path = os.path.join(folder, "seen.264")
    with open(path, "wb") as file:
        file.write(data)
    figures.rate_moments(path, scene.size, received, options.bit_rate, [*moving, rest], sender.matrix)
    found["psnr"] = figures.mean_psnr(moving)
    found["psnr_after"] = rest.best or 0.0
    return found


def _watch(screen, size, seconds):
    """A window of so many seconds, and its moments."""
    begin, moments = now_ns(), []
    for number in range(MOMENTS):
        time.sleep(max(0.0, begin / 1e9 + seconds * (number + 0.5) / MOMENTS - now_ns() / 1e9))
        snapshots = []
        for _ in range(BURST):
            snapshots.append(_snapshot(screen, size))
            time.sleep(BETWEEN)
        moments.append(Moment(snapshots))
    time.sleep(max(0.0, begin / 1e9 + seconds - now_ns() / 1e9))
    return (begin, now_ns()), moments


def _snapshot(screen, size):
    return now_ns(), screen.copy(size, ROW_STEP)
