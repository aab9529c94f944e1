"""The room's page in Chromium: which pictures it shows, and what it plays."""

import os
import time

from bench_kit import viewer
from bench_kit.devtools import Browser
from bench_kit.processes import Failure
from sound_bench.viewer import SCRIPT, take_samples, turn_on_sound

#: Which track is received.
TRACK = "document.querySelector('#video').srcObject.getVideoTracks()[0].id"


class Page(viewer.Viewer):
    scripts = [viewer.SCRIPT, SCRIPT]

    def __init__(self, folder, link):
        super().__init__("page", None, folder, browser=Browser(
            [], os.path.join(folder, "chromium.log"), more_flags=["--window-size=800,600"]))
        try:
            self.open(link)
            self.wait_until_playing()
        except BaseException:
            self.close()
            raise

    def hear(self, seconds):
        """The samples of so many seconds of what it plays, and how many there are in a second."""
        turn_on_sound(self.page)
        self.page.evaluate("soundBench.startRecord()")
        # Neither this nor the other one is a wait for anything: the second is the length of the recording.
        time.sleep(1)
        take_samples(self.page)
        time.sleep(seconds)
        return take_samples(self.page)

    def identity(self):
        """What stays as it is while it receives one track over one connection."""
        self.take()
        if not self.statistics:
            raise Failure("Chromium counts nothing")
        return [self.page.evaluate(TRACK), self.page.evaluate("screenRelay.reconnects"),
                self.statistics[-1]["video"]["ssrc"]]

    def shown(self):
        """The pictures so far, as [counter, when it was shown]."""
        self.take()
        return [(one["counter"], one["shown"]) for one in self.pictures if one["counter"] is not None]
