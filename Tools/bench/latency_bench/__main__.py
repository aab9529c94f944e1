"""Measures the delay from a shared screen to a browser's, pixel to pixel."""

import dataclasses
import json
import os
import statistics
import subprocess
import sys
import time

from capture_bench.display import Display
from capture_bench.limits import at_least, at_most
from capture_bench.options import SIZES, Parser
from capture_bench.outcome import carry_out, conclude
from capture_bench.processes import TROUBLE, Failure, Process
from capture_bench.report import table
from network_bench.analysis import share
from network_bench.bench import Bench
from network_bench.devtools import Browser, chromium
from network_bench.room import Room, busy_time
from network_bench.viewer import SCRIPT

from . import framebuffer

SCENES = ["typing", "scroll", "full", "drag", "video"]
#: By scene: p50 and p95 of the delay in ms, and pictures a second.
LIMITS = {"typing": (16, 24, None), "scroll": (15, 22, None), "full": (33, 50, 25)}
#: How far from it the page's own figure may be, in ms at p50.
OWN_FIGURE = 5
#: Seconds in which the scene moves before anything counts.
LEAD = 3.0
COLUMNS = ["scene", "delay p50 ms", "p95 ms", "p99 ms", "largest ms", "shown/s", "of drawn", "the page says ms",
           "host ms/s", "capture ms/s", "to the network ms"]
#: Which stages of a picture's way the host tells (Protocol/control.md); their medians make the last column.
STAGES = ["waiting", "encoding", "link", "sending"]


@dataclasses.dataclass
class Options:
    scenes: list
    seconds: float
    runs: int
    size: tuple
    bit_rate: int
    share: list
    out: str
    check: bool
    programs: str
    keep: bool = False


def parse(arguments):
    parser = Parser(
        prog="Tools/bench/latency",
        description="Measures the delay from a shared screen to a browser's on the same machine: from the X server's "
        "painting of a counter until the framebuffer of the X server in which Chromium has its window shows it, both "
        "read from memory twice a millisecond on one clock. Beside it stand what the page itself says, and how long the "
        "stages of a picture's way to the network take: waiting, encoding, link and sending. Writes latency.json.",
        epilog="exit codes: 0 done; 1 a limit is missed (--check); 64 usage; 69 something that is needed is missing; "
        "70 a measurement failed twice.")
    parser.add_argument("--scene", default="typing,scroll,full", metavar="LIST",
                        help="which of %s (typing,scroll,full)" % ",".join(SCENES))
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="how long a scene counts (20)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each, of which medians are told (3)")
    parser.add_argument("--size", choices=["1280x720"] + sorted(SIZES), default="1920x1080", help="of both screens")
    parser.add_argument("--bitrate", type=int, default=4_000_000, metavar="BITS", help="of the share (4000000)")
    parser.add_argument("--share", action="append", default=[], metavar="OPTION",
                        help="an option of screenrelay share, as in --share=--chroma=444; may be repeated")
    parser.add_argument("--out", default="latency-bench", metavar="DIR", help="where to write (latency-bench)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed, and print which")
    parser.add_argument("--programs", default=None, metavar="DIR",
                        help="where screenrelay, screenrelay-capture and screenrelay-scene are; without it they are "
                        "built")
    given = parser.parse_args(arguments)
    scenes = given.scene.split(",")
    for name in scenes:
        if name not in SCENES:
            parser.error("--scene %s: '%s' is none of %s" % (given.scene, name, ", ".join(SCENES)))
    if not 1 <= given.seconds <= 600:
        parser.error("--seconds %g: from 1 to 600" % given.seconds)
    if given.runs < 1:
        parser.error("--runs %d: at least 1" % given.runs)
    return Options(scenes, given.seconds, given.runs, tuple(int(side) for side in given.size.split("x")), given.bitrate,
                   given.share, given.out, given.check, given.programs)


def measure(bench, scene, folder):
    """One run: the figures of a scene."""
    own, theirs = (os.path.join(folder, name) for name in ("screen", "browser"))
    started = []
    try:
        for one in (own, theirs):
            os.makedirs(one)
        seconds = LEAD + bench.options.seconds
        room = Room(bench, scene, scene.ticks(seconds + 0.5), None, own, bench.options.bit_rate,
                    display_options=framebuffer.options(own))
        started.append(room)
        display = Display(scene.size, theirs, framebuffer.options(theirs))
        started.append(display)
        browser = Browser([], os.path.join(theirs, "chromium.log"), display.name, [
            "--kiosk", "--window-position=0,0", "--window-size=%d,%d" % scene.size])
        started.append(browser)
        page = browser.first_page()
        page.run_before_load(SCRIPT)
        page.navigate(room.printed_link)
        x, y, scale = _place(page, scene)
        page.evaluate("networkBench.readsPictures = false")
        watcher = Process("the watcher", [sys.executable, "-m", "latency_bench.watcher", own, theirs,
                                          "%f" % x, "%f" % y, "%f" % scale], os.path.join(folder, "watcher.log"),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if watcher.child.stdout.readline() != b"ready\n":
            raise Failure("the watcher did not start: " + watcher.last_words())
        try:
            start = room.shown.start() / 1e9 + LEAD
            _sleep_until(start)
            page.evaluate("networkBench.take().then(() => null)")
            before, worked = room.processor_times(), busy_time()
            _sleep_until(start + bench.options.seconds)
            after, worked = room.processor_times(), [now - then for now, then in zip(busy_time(), worked)]
            stages = (room.ask("status json") or {}).get("stages", {})
            taken = page.evaluate("networkBench.take()", seconds=60)
            room.share.require_running()
            room.shown.wait_for_end()
            watcher.child.stdin.close()
            watcher.child.stdin = None
            seen = json.loads(watcher.child.stdout.readline())
        finally:
            watcher.stop()
    finally:
        for one in reversed(started):
            one.close()
    figures = _figures(seen, start, bench.options.seconds)
    said = [one["said"] for one in taken["statistics"] if one["said"] is not None]
    figures["page_says_ms"] = share(said, 0.5)
    figures["busy"] = worked[0] / worked[1]
    for name in ("host", "capture"):
        figures[name + "_cpu"] = (after[name] - before[name]) / 1e6 / bench.options.seconds
    for name in STAGES:
        median = stages.get(name, {}).get("medianNanoseconds")
        figures[name + "_ms"] = None if median is None else median / 1e6
    return figures


def _place(page, scene):
    """Where on its screen the page shows the video: x, y and scale."""
    deadline = time.monotonic() + 40
    while not page.evaluate("window.screenRelay?.phase === 'playing' && !!window.networkBench.firstShown"):
        if time.monotonic() > deadline:
            raise Failure("the page does not play within 40 s")
        time.sleep(0.1)
    # The bar over the picture goes after a while; the counter is at the top, where the figures are.
    box = page.evaluate("""(() => {
        const { left, top, width, height } = document.querySelector("#video").getBoundingClientRect();
        return { left: left + screenX + (outerWidth - innerWidth) / 2, top: top + screenY + outerHeight - innerHeight,
                 width, height, ratio: devicePixelRatio };
    })()""")
    scale = min(box["width"] / scene.size[0], box["height"] / scene.size[1])
    # The video keeps its shape inside its box.
    x = box["left"] + (box["width"] - scale * scene.size[0]) / 2
    y = box["top"] + (box["height"] - scale * scene.size[1]) / 2
    return x * box["ratio"], y * box["ratio"], scale * box["ratio"]


def _sleep_until(when):
    time.sleep(max(0.0, when - time.monotonic()))


def _figures(seen, start, seconds):
    drawn, end = dict(), start + seconds
    for value, painted in seen["drawn"]:
        drawn.setdefault(value, painted)
    delays, highest = [], -1
    for value, shown in seen["shown"]:
        # A value that was never drawn is half of a change, and one from before is shown again.
        if value in drawn and value > highest:
            highest = value
            if start <= drawn[value] < end:
                delays.append((shown - drawn[value]) * 1000)
    if not delays:
        raise Failure("no count of the scene was seen in the browser's framebuffer")
    wanted = sum(1 for painted in drawn.values() if start <= painted < end)
    return {"p50_ms": share(delays, 0.5), "p95_ms": share(delays, 0.95), "p99_ms": share(delays, 0.99),
            "max_ms": max(delays), "shown_per_second": len(delays) / seconds, "drawn_share": len(delays) / wanted,
            "look_p99_ms": seen["gap_p99_ms"], "look_max_ms": seen["gap_max_ms"]}


def run_twice(bench, scene):
    for attempt in (1, 2):
        folder = bench.new_folder()
        try:
            return measure(bench, scene, folder)
        except TROUBLE as error:
            bench.say("%s failed%s: %s" % (scene.name, "" if attempt == 1 else " again", error))
        finally:
            bench.forget(folder)
    return None


def checks(name, figures):
    half, most, pictures = LIMITS.get(name, (None, None, None))
    if half is None:
        return []
    found = [at_most("%s, p50" % name, figures["p50_ms"], half, "ms"),
             at_most("%s, p95" % name, figures["p95_ms"], most, "ms")]
    if pictures:
        found.append(at_least("%s, pictures" % name, figures["shown_per_second"], pictures, "a second"))
    if figures.get("page_says_ms") is not None:
        found.append(at_most("%s, the page's own figure is off" % name,
                             abs(figures["page_says_ms"] - figures["p50_ms"]), OWN_FIGURE, "ms"))
    return found


def main():
    options = parse(sys.argv[1:])
    return carry_out("latency", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    rows, failures, found, busy, document = [], [], [], [], {}
    chromium()
    bench = Bench(options, folder)
    for name in options.scenes:
        runs = []
        for number in range(options.runs):
            bench.say("%s, run %d of %d" % (name, number + 1, options.runs))
            figures = run_twice(bench, bench.scene(name))
            if figures:
                runs.append(figures)
            else:
                failures.append("%s, run %d" % (name, number + 1))
        if not runs:
            continue
        known = {key: [run[key] for run in runs if run[key] is not None] for key in runs[0]}
        medians = {key: statistics.median(values) if values else None for key, values in known.items()}
        document[name] = {"medians": medians, "runs": runs}
        found += checks(name, medians)
        busy += [run["busy"] for run in runs]
        said = medians["page_says_ms"]
        rows.append([name] + ["%.1f" % medians[key] for key in ("p50_ms", "p95_ms", "p99_ms", "max_ms",
                                                                "shown_per_second")]
                    + ["%.0f %%" % (100 * medians["drawn_share"]), "–" if said is None else "%.1f" % said]
                    + ["%.0f" % medians[key] for key in ("host_cpu", "capture_cpu")]
                    + [" + ".join("–" if medians[name + "_ms"] is None else "%.1f" % medians[name + "_ms"]
                                  for name in STAGES)])
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "latency.json"), "w") as file:
        limits = [vars(one) for one in found]
        json.dump({"options": vars(options), "scenes": document, "limits": limits}, file, indent=1)
    print("\n".join(table(COLUMNS, rows)))
    if busy:
        print("\nThis machine was %.0f %% busy." % (100 * statistics.median(busy)))
    return conclude(failures, found, options.check)


sys.exit(main())
