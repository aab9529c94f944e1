"""A listener: Chromium with the room's page, its sound turned on, and what that page told."""

import base64
import json
import os

import numpy

from bench_kit.devtools import Browser
from bench_kit.processes import wait_until


def _text(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name)) as file:
        return file.read()


SCRIPT = _text("page.js")


class Viewer:
    """Plays the room of `link`. The browser runs by `prefix` (in another network namespace)."""

    def __init__(self, link, folder, prefix=()):
        host = link.split("/#")[0]
        # Only a trusted page may have audio worklets, and http is trusted on this machine alone.
        self.browser = Browser(list(prefix), os.path.join(folder, "chromium.log"), more_flags=[
            "--window-size=800,600", "--unsafely-treat-insecure-origin-as-secure=" + host])
        try:
            self.page = self.browser.new_page()
            # The page's own policy allows no scripts but its own.
            self.page.call("Page.setBypassCSP", {"enabled": True})
            self.page.run_before_load(SCRIPT)
            self.page.navigate(link)
            wait_for(self.page, "screenRelay.phase === 'playing'", "a picture in the page")
            self.epoch = self.page.epoch()
        except BaseException:
            self.close()
            raise

    def turn_on_sound(self):
        """Presses the page's own button."""
        turn_on_sound(self.page)

    def listen(self, keeps_samples=False):
        """Begins to keep beeps and the clock of the speaker; gives the latencies that the browser tells."""
        return self.page.evaluate("soundBench.listen(%s, %s)" % (json.dumps(_text("tap.js")),
                                                                json.dumps(keeps_samples)))

    def evaluate(self, script):
        return self.page.evaluate(script)

    def sound(self):
        """The browser's counters of the incoming sound."""
        return (self.page.evaluate("soundBench.count()") or {}).get("audio") or {}

    def has_sound(self, packets):
        """Whether more packets of sound than these have come."""
        return self.sound().get("packetsReceived", 0) > packets

    def take(self):
        """What the page has kept since the last call; times are seconds of CLOCK_MONOTONIC."""
        taken = self.page.evaluate("soundBench.take()", seconds=60)
        taken["flashes"] = [[self._time(one) for one in flash] for flash in taken["flashes"]]
        taken["clock"] = [[context, self._time(played)] for context, played in taken["clock"]]
        for one in taken["counts"]:
            one["time"] = self._time(one["time"])
        return taken

    def take_samples(self):
        """The samples since the last call, and how many there are in a second."""
        return take_samples(self.page)

    def close(self):
        self.browser.close()

    def _time(self, milliseconds):
        return self.epoch + milliseconds / 1000


def wait_for(page, condition, what):
    """Waits until a condition of the room's page holds."""
    wait_until(lambda: page.evaluate("!!window.screenRelay && (%s)" % condition), 40, what)


def turn_on_sound(page):
    wait_for(page, "screenRelay.sound === 'live' && !!document.getElementById('listen')", "sound in the page")
    page.evaluate("document.getElementById('listen').click()")
    wait_for(page, "screenRelay.isListening && !!document.querySelector('#video').srcObject.getAudioTracks().length",
             "that the page plays sound")


def take_samples(page):
    taken = page.evaluate("soundBench.takeSamples()", seconds=60)
    return numpy.frombuffer(base64.b64decode(taken["samples"]), numpy.float32), taken["rate"]
