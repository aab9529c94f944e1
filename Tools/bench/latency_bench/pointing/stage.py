"""A shared scene, and a viewer of it in headless Chromium that points."""

import json
import os
import time

from bench_kit import framebuffer
from bench_kit.devtools import Browser
from bench_kit.processes import Failure, now_ns, wait_until
from bench_kit.room import Room, busy_share, busy_time
from bench_kit.started import Started

from ..place import place_in_window, wait_until_playing

#: The viewer's name, which gives its dots their colour.
NAME = "Cid"
PLAYS = "window.screenRelay?.phase === 'playing' && document.querySelector('#video').videoWidth > 0"
#: The button of the page that turns the laser on, as the page's tests find it.
LASER = "document.querySelector('#bar [title^=\"Laser pointer\"]')"
#: How much larger than the picture the window is, so that the page's bar is below the picture and not over it.
MARGIN = (40, 400)
#: What the page says for some seconds over the picture when the laser is turned on first.
HAS_NO_HINT = "!document.querySelector('#view > .notice:not(#notice)')"
COVERED = """(places => places.filter(([x, y]) =>
    !document.querySelector('#scroller').contains(document.elementFromPoint(x, y))).length)(%s)"""
#: Seconds that the scene moves after all that is planned: waiting for the page and for reports takes time too.
SPARE = 120

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.js")) as file:
    SCRIPT = file.read().replace("NAME", json.dumps(NAME))


class Stage(Started):
    """Everything that a measurement has started; ends all of it in the opposite order."""

    def __init__(self, bench, folder):
        super().__init__()
        self.bench, self.folder = bench, folder

    def open(self, scene, seconds):
        """Starts the share and its viewer, until the scene moves, for so many seconds and more, and the page plays."""
        self.size = scene.size
        self.room = self.add(Room(
            self.bench, scene, scene.ticks(seconds + SPARE), None, self.folder, self.bench.options.bit_rate,
            display_options=framebuffer.options(self.folder)))
        self.browser = self.add(Browser([], os.path.join(self.folder, "chromium.log"), more_flags=[
            "--window-size=%d,%d" % tuple(side + margin for side, margin in zip(scene.size, MARGIN))]))
        self.page = self.browser.new_page()
        self.page.run_before_load(SCRIPT)
        self.page.navigate(self.room.printed_link)
        wait_until_playing(self.page, PLAYS)
        self.epoch = self.page.epoch()
        #: Where the picture is in the window: x, y and scale, in CSS pixels.
        self.box = place_in_window(self.page, scene.size)
        self.room.shown.start()
        self.began = busy_time()

    def turn_laser(self, is_on):
        """Presses the page's key, and waits until the laser is on or off."""
        wait_until(lambda: self.page.evaluate(LASER + "?.hidden === false"), 20, "a page that may point")
        for kind in ("keyDown", "keyUp"):
            self.page.call("Input.dispatchKeyEvent", {"type": kind, "key": "l", "text": "l"})
        pressed = "true" if is_on else "false"
        wait_until(lambda: self.page.evaluate("%s.getAttribute('aria-pressed') === '%s'" % (LASER, pressed)), 20,
                   "the laser's turning %s" % ("on" if is_on else "off"))
        wait_until(lambda: self.page.evaluate(HAS_NO_HINT), 20, "the end of the page's hint")

    def mouse(self, kind, window, **more):
        """Tells the browser of a mouse event at this place of the window; gives the time just before, in seconds."""
        self.browser.drop_answers()
        before = time.monotonic()
        self.page.post("Input.dispatchMouseEvent", {"type": kind, "x": window[0], "y": window[1], **more})
        return before

    def require_free(self, windows):
        """Fails if something in the page covers the picture at these places of the window."""
        count = self.page.evaluate(COVERED % json.dumps(windows))
        if count:
            raise Failure("the page has something over the picture at %d of %d places" % (count, len(windows)))

    def take_events(self):
        """The pointer's events since the last call, [x, y, event's time, handling's time], in seconds."""
        return [[x, y, self.epoch + created / 1000, self.epoch + handled / 1000]
                for x, y, created, handled in self.page.evaluate("pointingBench.take()", seconds=60)]

    def counts(self):
        """How many pictures and bytes the capture has made, as it has reported last; None before that."""
        capture = (self.room.ask("status") or {}).get("capture") or {}
        return (capture["pictures"], capture["bytes"]) if "pictures" in capture else None

    def look(self, counts):
        """What all has used so far, in ns, with these counts, and when that was."""
        self.room.share.require_running()
        return {"time": now_ns(), **self.room.processor_times(),
                "server": sum(self.room.display.thread_times().values()), "pictures": counts[0], "bytes": counts[1]}

    def busy(self):
        """Which part of their time this machine's processors have worked since `open`."""
        return busy_share(self.began)
