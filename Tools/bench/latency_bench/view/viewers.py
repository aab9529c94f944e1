"""Both viewers: programs at the far end of a path, each with a window on an X server of its own."""

import json
import os
import re
import subprocess
import threading
import time

from bench_kit import framebuffer
from bench_kit.devtools import Browser
from bench_kit.display import Display
from bench_kit.processes import Failure, Process, now_ns, own_settings, wait_until

from .. import place
from .figures import smoothed
from .usage import usage

#: Seconds until a viewer plays, and until its window shows the scene's counter.
PLAYING, SEEN = 40, 20


class Viewer:
    kind = None

    def __init__(self, path, folder, size):
        self.name, self.path, self.size = self.kind, path, size
        self.folder = os.path.join(folder, self.kind)
        os.makedirs(self.folder)
        self.log = os.path.join(folder, self.kind + ".log")
        self.host_estimates = []  # [seconds, bits per second]
        self.display = Display(size, self.folder, framebuffer.options(self.folder))

    @property
    def watched(self):
        """Where the watcher finds the scene's counter: a folder, x, y and scale."""
        return (self.folder, *self.place)

    def wait_until_seen(self):
        counter = framebuffer.Framebuffer(*self.watched)
        wait_until(lambda: counter.counter() is not None, SEEN, "the counter of the scene in %s's window" % self.name)

    def look(self):
        """What it has used so far, and when that was."""
        return {"time": time.monotonic(), "server_cpu": sum(self.display.thread_times().values()) / 1e9,
                **usage(self.pid)}


class View(Viewer):
    kind = "view"

    def __init__(self, path, folder, size):
        self.process, self._reader = None, None
        #: (seconds of CLOCK_MONOTONIC, the report of the second before)
        self.lines = []
        #: Without a window manager, the window is in the corner of its screen.
        self.place = (0.0, 0.0, 1.0)
        super().__init__(path, folder, size)

    def open(self, program, link):
        self.process = Process(
            "screenrelay view",
            [*self.path.prefix, program, "view", "--display", self.display.name, "--mute", "--stats", "json", link],
            self.log, own_settings(self.folder), stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, args=[self.process.child.stdout], daemon=True)
        self._reader.start()

    def _read(self, output):
        for line in output:
            self.lines.append((time.monotonic(), json.loads(line)))

    def wait_until_playing(self):
        def plays():
            self.process.require_running()
            return any(line["pictures"] > 0 for _, line in list(self.lines))

        wait_until(plays, PLAYING, "the first frame of view")

    @property
    def pid(self):
        # nsenter has become the program.
        return self.process.pid

    def take(self):
        self.process.require_running()

    @property
    def said(self):
        """Its own figure of the delay, as [seconds, ms or None]."""
        return smoothed([(when, line.get("delay")) for when, line in self.lines])

    def close(self):
        if self.process:
            if self.process.is_running():
                self.process.child.terminate()
            # The reader ends with the program, before the pipe is closed.
            self._reader.join(10)
            self.process.stop()
        self.display.close()


class Chromium(Viewer):
    kind = "chromium"

    #: The page as users have it: no script of the benchmark runs in it.
    PLAYS = "window.screenRelay?.phase === 'playing' && document.querySelector('#video').videoWidth > 0"

    def __init__(self, path, folder, size):
        self.browser = None
        #: As [seconds, ms or None]; the page's line has the median over some seconds.
        self.said = []
        super().__init__(path, folder, size)

    def open(self, program, link):
        self.browser = Browser(self.path.prefix, self.log, self.display.name, [
            "--kiosk", "--window-position=0,0", "--window-size=%d,%d" % self.size])
        self.page = self.browser.first_page()
        self.page.navigate(link)

    def wait_until_playing(self):
        place.wait_until_playing(self.page, self.PLAYS, PLAYING)
        self.place = place.place(self.page, self.size)

    @property
    def pid(self):
        return self.browser.child.pid

    def take(self):
        words = re.search(r"(\d+) ms", self.page.evaluate("window.screenRelay?.figures ?? ''"))
        self.said.append((now_ns() / 1e9, float(words[1]) if words else None))

    def close(self):
        if self.browser:
            self.browser.close()
        self.display.close()


class PlainChromium(Chromium):
    """Chromium with page.py's page, which says nothing of the delay."""

    PLAYS = "document.querySelector('#video')?.videoWidth > 0"

    def wait_until_playing(self):
        try:
            super().wait_until_playing()
        except Failure as problem:
            raise Failure("%s; its title is '%s'" % (problem, self.page.evaluate("document.title")))

    def take(self):
        pass
