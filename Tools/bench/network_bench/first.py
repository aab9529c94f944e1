"""The first picture: from the start of navigation until the page shows it, when it is opened and opened again."""

import statistics
import time

from bench_kit.course import Stage
from bench_kit.devtools import Browser
from bench_kit.processes import Failure, now_ns
from bench_kit.viewer import SCRIPT

_LOADED = """(() => {
  const [page] = performance.getEntriesByType("navigation");
  return { shown: networkBench.firstShown, loaded: page.loadEventEnd,
           files: performance.getEntriesByType("resource").length + 1 };
})()"""


def measure(bench, course, folder, seed):
    """Opens the page several times; gives the medians."""
    scene = bench.scene(course.scene)
    phase = course.narrow[0]
    with Stage(bench, course, folder, seed) as stage:
        stage.make_paths(1)
        stage.make_room(scene, 1)
        path = stage.paths[0]
        path.change(now_ns() / 1e9, phase.name, phase.down, phase.up)
        browser = Browser(path.prefix, "%s/chromium.log" % folder)
        stage.callback(browser.close)
        link = stage.room.link(path.host_address)
        # The first page of a browser also starts processes; it isn't counted.
        _open(browser, browser.new_context(), link)
        new, again = [], []
        for _ in range(course.facts["opens"]):
            context = browser.new_context()
            new.append(_open(browser, context, link))
            again.append(_open(browser, context, link))
            browser.call("Target.disposeBrowserContext", {"browserContextId": context})
        late = path.report()["down"]["late_p99_ms"]
    phases = [dict(phase=name, **_medians(values)) for name, values in (("new", new), ("again", again))]
    return {"viewers": [{"viewer": "visitor", "kind": "visitor", "phases": phases}], "host": [],
            "path_late_p99_ms": late}


def _open(browser, context, link):
    page = browser.new_page(context)
    page.run_before_load(SCRIPT)
    # A new window also loads the browser's own pages, such as that of its address bar, on the same processors. Who opens
    # a link has that behind them.
    time.sleep(1.5)
    page.navigate(link)
    deadline = time.monotonic() + 30
    while not page.evaluate("!!window.networkBench?.firstShown && performance.timing.loadEventEnd > 0"):
        if time.monotonic() > deadline:
            raise Failure("no picture came within 30 s of opening the page")
        time.sleep(0.05)
    seen = page.evaluate(_LOADED)
    page.close()
    # The host is told that the viewer has gone, and forgets him.
    time.sleep(0.5)
    return seen


def _medians(values):
    return {"first_picture_ms": statistics.median(one["shown"] for one in values),
            "first_picture_max_ms": max(one["shown"] for one in values),
            "loaded_ms": statistics.median(one["loaded"] for one in values),
            "files": statistics.median(one["files"] for one in values)}
