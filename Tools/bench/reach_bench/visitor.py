"""A viewer in one of the browsers, and what its page says of the way that the pictures take."""

import os

from bench_kit.devtools import Browser as Chromium
from bench_kit.viewer import SCRIPT, Viewer

from .firefox import Browser as Firefox

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.js")) as file:
    OWN_SCRIPT = file.read()


class Visitor(Viewer):
    scripts = [SCRIPT, OWN_SCRIPT]

    def __init__(self, browser, path, folder):
        """`browser` is "chromium" or "firefox"."""
        log = os.path.join(folder, browser + ".log")
        # "narrow" is network_bench's word for one whose path is changed.
        super().__init__("narrow-1", path, folder, browser=Firefox(path, log) if browser == "firefox" else Chromium(
            path.prefix, log, more_flags=["--ignore-certificate-errors"]))

    def wait_until_playing(self, seconds=40):
        super().wait_until_playing(seconds)
        shown, asked = self.page.evaluate("[networkBench.firstShown, reachBench.asked]")
        # Before anything is measured, because the panel that says it takes time.
        path, *notes = self.page.evaluate("reachBench.path()") or ["not told"]
        self.facts = {
            "first_picture_s": shown / 1000, "asked_s": (shown - asked) / 1000, "path": path, "notes": notes,
            "player": self.page.evaluate("reachBench.player()"),
            "is_secure": self.page.evaluate("isSecureContext"),
            "has_decoder": self.page.evaluate("typeof VideoDecoder === 'function'")}

    def sample_every(self, seconds):
        """Keeps no whole pictures: sharpness isn't measured here."""

    def take(self):
        super().take()
        player = self.page.evaluate("reachBench.player()")
        if player not in self.facts["player"].split(", then "):
            self.facts["player"] += ", then " + player
        if "features" not in self.facts and len(self.pictures) > 30:
            self.facts["features"] = self.page.evaluate("reachBench.features()")
