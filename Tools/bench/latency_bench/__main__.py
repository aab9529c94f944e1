"""Measures the delay from a shared screen to a browser's, pixel to pixel."""

import functools
import os
import sys

from bench_kit import framebuffer
from bench_kit.analysis import share
from bench_kit.bench import Bench
from bench_kit.counts import first_times
from bench_kit.devtools import Browser, chromium
from bench_kit.display import Display
from bench_kit.figures import medians
from bench_kit.limits import at_least, at_most
from bench_kit.outcome import carry_out, conclude
from bench_kit.processes import Failure, sleep_until
from bench_kit.report import number, percent, table, write_json
from bench_kit.room import Room, busy_share, busy_time
from bench_kit.viewer import SCRIPT
from bench_kit.watching import Watcher
from capture_bench.casts import require_casts

from . import place, wayland
from .beside import WebRTCBinRoom, require_webrtcbin
from .figures import delays_of, spread
from .options import parse
from .pointing import main as pointing
from .view import main as view

#: By scene: p50 and p95 of the delay in ms, and pictures a second.
LIMITS = {"typing": (16, 24, None), "scroll": (15, 22, None), "full": (33, 50, 25)}
#: How far from it the page's own figure may be, in ms at p50.
OWN_FIGURE = 5
#: Whether the page plays; that of another sender tells no phase.
PLAYS = "(window.screenRelay?.phase ?? 'playing') === 'playing' && !!window.networkBench.firstShown"
#: Seconds in which the scene moves before anything counts.
LEAD = 3.0
COLUMNS = ["scene", "delay p50 ms", "p95 ms", "p99 ms", "largest ms", "shown/s", "of drawn", "the page says ms",
           "host ms/s", "capture ms/s", "to the network ms", "machine busy"]
#: Which stages of a picture's way the host tells (Protocol/control.md); their medians make the last column but one.
STAGES = ["waiting", "encoding", "link", "sending"]
#: What shares a scene beside the share of an X display, and what ends with a Missing where it can't.
BESIDE = {"webrtcbin": (WebRTCBinRoom, require_webrtcbin), "wayland": (wayland.WaylandRoom, require_casts)}


def measure(bench, room_type, scene, folder):
    """One run: the figures of a scene, which this type of Room sends."""
    own, theirs = (os.path.join(folder, name) for name in ("screen", "browser"))
    started, recording = [], os.path.join(own, "link.srr")
    can_watch = room_type.display_type is Display
    try:
        for one in (own, theirs):
            os.makedirs(one)
        seconds = LEAD + bench.options.seconds
        room = room_type(bench, scene, scene.ticks(seconds + 0.5), None, own, bench.options.bit_rate,
                         display_options=framebuffer.options(own) if can_watch else (),
                         # Where one of two shares has to be recorded, both are.
                         share_options=["--record", recording] if bench.options.beside == "wayland" else ())
        started.append(room)
        display = Display(scene.size, theirs, framebuffer.options(theirs))
        started.append(display)
        browser = Browser([], os.path.join(theirs, "chromium.log"), display.name, [
            "--kiosk", "--window-position=0,0", "--window-size=%d,%d" % scene.size])
        started.append(browser)
        page = browser.first_page()
        page.run_before_load(SCRIPT)
        page.navigate(room.printed_link)
        place.wait_until_playing(page, PLAYS)
        x, y, scale = place.place(page, scene.size)
        page.evaluate("networkBench.readsPictures = false")
        watcher, receiver = Watcher(own if can_watch else None, [(theirs, x, y, scale)], folder), None
        try:
            receiver = None if can_watch else room.beside(scene, own)
            start = room.shown.start() / 1e9 + LEAD
            sleep_until(start)
            page.evaluate("networkBench.take().then(() => null)")
            before, busy = room.processor_times(), busy_time()
            sleep_until(start + bench.options.seconds)
            after, busy = room.processor_times(), busy_share(busy)
            stages = (room.ask("status") or {}).get("stages", {})
            taken = page.evaluate("networkBench.take()", seconds=60)
            room.share.require_running()
            room.shown.wait_for_end()
            seen = watcher.finish()
        finally:
            watcher.close()
            if receiver:
                receiver.stop()
    finally:
        for one in reversed(started):
            one.close()
    drawn = first_times(seen["drawn"]) if can_watch else {
        count: time / 1e9 for count, time in room.shown.drawn.items()}
    painted = drawn if can_watch else wayland.painted_times(recording, scene.size, drawn)
    figures = _figures(seen, painted, drawn, start, bench.options.seconds)
    if receiver:
        figures.update(wayland.bare(receiver, start, bench.options.seconds))
    said = [one["said"] for one in taken["statistics"] if one["said"] is not None]
    figures["page_says_ms"] = share(said, 0.5)
    figures["busy"] = busy
    for name in ("host", "capture"):
        figures[name + "_cpu"] = (after[name] - before[name]) / 1e6 / bench.options.seconds
    for name in STAGES:
        median = stages.get(name, {}).get("medianNanoseconds")
        figures[name + "_ms"] = None if median is None else median / 1e6
    return figures


def _figures(seen, painted, drawn, start, seconds):
    """`drawn` has all counts of the scene; `painted` those whose time of painting is known, if that isn't all."""
    delays = delays_of(seen["shown"][0], painted, start, seconds)
    if not delays:
        raise Failure("no count of the scene was seen in the browser's framebuffer")
    wanted = sum(1 for when in drawn.values() if start <= when < start + seconds)
    figures = {**spread(delays, seconds), "drawn_share": len(delays) / wanted, "look_p99_ms": seen["gap_p99_ms"],
               "look_max_ms": seen["gap_max_ms"]}
    if painted is not drawn:
        figures["client_p50_ms"] = share(delays_of(seen["shown"][0], drawn, start, seconds), 0.5)
    return figures


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
    # What else is measured pixel to pixel: by the first word.
    others = {"view": view.main, "pointing": pointing.main}
    if sys.argv[1:2] and sys.argv[1] in others:
        return others[sys.argv[1]](sys.argv[2:])
    options = parse(sys.argv[1:])
    return carry_out("latency", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    document, failures = {}, []
    chromium()
    if options.beside:
        BESIDE[options.beside][1]()
    bench = Bench(options, folder)
    for name in options.scenes:
        # They take turns, so that what else this machine does falls on all of them.
        ways = ways_of(bench, name)
        runs = {label: [] for label in ways}
        for run in range(options.runs):
            for label, way in ways.items():
                runs[label] += bench.run_once(label, lambda folder, _: way(folder), failures, run)
        document.update({label: {"medians": medians(some), "runs": some} for label, some in runs.items() if some})
    # Only scenes have limits, and so only the share of an X display; that of a desktop is compared with it.
    found = [one for label, entry in document.items() for one in checks(label, entry["medians"])]
    found += [wayland.check(*one) for one in beside_wayland(options, document) if one[0] in LIMITS]
    write(options, document, found)
    return conclude(failures, found, options.check)


def ways_of(bench, name):
    """What is measured of a scene: functions of a folder, by the labels of their rows."""
    scene, other = bench.scene(name), bench.options.beside
    found = {name: functools.partial(measure, bench, Room, scene)}
    if other:
        found[beside(name, other)] = functools.partial(measure, bench, BESIDE[other][0], scene)
    return found


def beside(name, other):
    """What the row of something else is called."""
    return "%s, %s" % (name, other)


def beside_wayland(options, document):
    """(scene, the medians on X11, and those on Wayland), for each scene that has both."""
    for name in options.scenes:
        labels = [name, beside(name, "wayland")]
        if all(label in document for label in labels):
            yield (name, *(document[label]["medians"] for label in labels))


def write(options, document, found):
    """Writes latency.json, and prints the table and what follows from it."""
    write_json(options, "latency", found, scenes=document)
    print("\n".join(table(COLUMNS, [row(label, entry["medians"]) for label, entry in document.items()])))
    if options.beside == "wayland":
        rows = [wayland.row(*one) for one in beside_wayland(options, document)]
        print("\n" + "\n".join(table(wayland.COLUMNS, rows)))
    elif options.beside:
        for name in options.scenes:
            labels = [name, beside(name, options.beside)]
            if all(label in document for label in labels):
                print("\n" + comparison(name, options.beside, *(document[label]["medians"] for label in labels)))


def row(label, figures):
    """A row of the table; what isn't known of a sender is a dash."""
    return [label, *(number(figures.get(key), 1) for key in ("p50_ms", "p95_ms", "p99_ms", "max_ms", "shown_per_second")),
            percent(figures.get("drawn_share")), number(figures.get("page_says_ms"), 1),
            *(number(figures.get(key)) for key in ("host_cpu", "capture_cpu")),
            " + ".join(number(figures.get(stage + "_ms"), 1) for stage in STAGES), percent(figures.get("busy"))]


def comparison(name, other, ours, theirs):
    """How many times the share's delay and processor time another sender takes."""
    def times(*keys):
        return sum(theirs[key] for key in keys) / sum(ours[key] for key in keys)
    return "%s: %s takes %.1f times the share's delay at p50, %.1f times at p95, %.1f times its processor time." % (
        name, other, times("p50_ms"), times("p95_ms"), times("host_cpu", "capture_cpu"))


sys.exit(main())
