"""A viewer: Chromium at the far end of a path, with the room's page, and what that page told."""

import base64
import json
import os
import time

import numpy

from .devtools import Browser
from .processes import Failure

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.js")) as file:
    SCRIPT = file.read()


#: A light viewer is a WHEP player in a browser: it decodes every picture, and draws none. That takes 70 ms of processor
#: time a second, the room's page 190 (640x360, 30 pictures a second).
LIGHT_FLAGS = ["--window-size=320,200"]
#: A page beside light viewers draws into a small window; what is kept of its pictures is the decoder's.
SMALL_FLAGS = ["--window-size=480,400"]
LIGHT_PAGE = "/robots.txt"


class Viewer:
    #: What runs in the page before its own scripts.
    scripts = [SCRIPT]

    def __init__(self, name, path, folder, is_light=False, is_small=False, browser=None):
        """`browser` is used instead of a Chromium of its own, and ends with this."""
        self.name, self.path, self.is_light = name, path, is_light
        self.pictures, self.statistics, self.samples = [], [], []
        self.host_estimates = []  # [seconds, bits a second]
        self.facts = {}  # what else is known of it
        self.folder = folder
        self.browser = browser or Browser(path.prefix, os.path.join(folder, "chromium-%s.log" % name),
                                          more_flags=LIGHT_FLAGS if is_light else SMALL_FLAGS if is_small else ())

    def open(self, link):
        self.page = self.browser.new_page()
        for script in self.scripts:
            self.page.run_before_load(script)
        if not self.is_light:
            self.page.navigate(link)
            return
        host, fragment = link.split("/#")
        room, token = fragment.split(",")
        self.page.navigate(host + LIGHT_PAGE)
        self.page.evaluate("networkBench.play(%s, %s)" % (json.dumps("%s/whep/%s" % (host, room)), json.dumps(token)))

    def wait_until_playing(self, seconds=40):
        deadline = time.monotonic() + seconds
        plays = "" if self.is_light else "window.screenRelay?.phase === 'playing' && "
        while not self.page.evaluate(plays + "!!window.networkBench.firstShown"):
            if time.monotonic() > deadline:
                raise Failure("%s's page does not play within %g s: %s" % (
                    self.name, seconds, self.page.evaluate("JSON.stringify(window.screenRelay ?? null)")))
            time.sleep(0.1)
        self.epoch = self.page.epoch()

    def sample_every(self, seconds):
        """Keeps a whole picture each so many seconds; 0 for none."""
        self.page.evaluate("window.networkBench.sampleEvery = %g" % (seconds * 1000))

    def sample_now(self):
        """Keeps the whole picture that is shown now, if there is one, with the time when it was first shown."""
        self.page.evaluate("window.networkBench.sampleNow()")
        self.take()

    def take(self):
        """Fetches what the page has kept since the last call; its times become seconds of CLOCK_MONOTONIC."""
        taken = self.page.evaluate("window.networkBench.take()", seconds=60)
        for one in taken["pictures"]:
            for key in ("shown", "received", "called"):
                if one.get(key) is not None:
                    one[key] = self.epoch + one[key] / 1000
        for one in taken["statistics"]:
            one["time"] = self.epoch + one["time"] / 1000
        for one in taken["samples"]:
            luma = numpy.frombuffer(base64.b64decode(one.pop("luma")), numpy.uint8)
            # On disk: minutes of them would take gigabytes.
            one["file"] = os.path.join(self.folder, "%s-%d.npy" % (self.name, len(self.samples)))
            numpy.save(one["file"], luma.reshape(one["height"], one["width"]))
            one["shown"] = self.epoch + one["shown"] / 1000
            self.samples.append(one)
        self.pictures += taken["pictures"]
        self.statistics += taken["statistics"]

    def close(self):
        self.browser.close()
