"""One run: a scene on a display of its own, and a capture that sends it."""

import os
import shutil
import signal
import time

from capture_bench.display import Display
from capture_bench.processes import Failure, Process, now_ns, peak_memory, thread_times, time_between, wait_until
from capture_bench.programs import Ours

from . import figures
from .painted import Framebuffer, Watcher

#: Snapshots during motion that quality is measured at.
SNAPSHOTS = 8
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


def run(scene, program, options, folder):
    """The figures of one run."""
    os.makedirs(folder, exist_ok=True)
    with Display(scene.size, folder, ["-fbdir", folder]) as display:
        actors, watcher = Actors(display, folder), None
        capture = Ours(program, ["--bitrate", str(options.bit_rate), *options.arguments])
        capture.comes_to_rest = False
        try:
            scene.start(actors)
            watcher = Watcher(display)
            capture.start(display, scene.size, folder)
            wait_until(lambda: capture.position > 0, 20, "the first picture")
            wait_until(lambda: len(watcher.times) > scene.paints, 30, "something on the screen of " + scene.name)
            # On a slow link, the first picture takes seconds.
            time.sleep(scene.lead + 3_000_000 / options.bit_rate)
            actors.require_running()
            found = _measure(scene, options, folder, capture, watcher, actors)
        finally:
            if watcher:
                watcher.close()
            actors.close()
            if hasattr(capture, "process"):
                capture.stop()
    if not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _measure(scene, options, folder, capture, watcher, actors):
    framebuffer = Framebuffer(folder, scene.size)
    before, begin = thread_times(capture.pid), now_ns()
    snapshots = []
    for number in range(SNAPSHOTS):
        time.sleep(max(0.0, begin / 1e9 + options.seconds * (number + 0.5) / SNAPSHOTS - now_ns() / 1e9))
        snapshots.append((now_ns(), framebuffer.copy()))
    time.sleep(max(0.0, begin / 1e9 + options.seconds - now_ns() / 1e9))
    end, after = now_ns(), thread_times(capture.pid)
    actors.require_running()
    actors.signal(signal.SIGSTOP)
    time.sleep(AFTER)
    snapshots.append((now_ns(), framebuffer.copy()))
    time.sleep(0.05)
    received = list(capture.receiver.pictures)
    found = figures.of_motion(received, list(watcher.times), (begin, end), options.bit_rate)
    found["cpu"] = time_between(before, after) / (end - begin) * 100
    found["memory"] = peak_memory(capture.pid) / 1024
    path = os.path.join(folder, "stream.264")
    data, _ = capture.stream()
    with open(path, "wb") as file:
        file.write(data)
    values = figures.qualities(path, scene.size, received, snapshots)
    moving = [value for value in values[:-1] if value is not None]
    if not moving:
        raise Failure("no picture of %s could be compared" % scene.name)
    found["psnr"] = sum(moving) / len(moving)
    found["psnr_after"] = values[-1] or 0.0
    return found
