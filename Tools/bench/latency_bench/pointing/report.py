"""What was measured, as tables and as JSON."""

from bench_kit.report import table

DELAYS = ["scene", "what is seen", "delay p50 / p95 / largest ms", "from the event's timeStamp p50 / p95 ms",
          "until the page's script p50 ms", "from the page's script p50 / p95 ms", "not seen"]
COSTS = ["scene", "viewer", "capture's CPU ms/s", "pictures/s", "bytes/s", "host's CPU ms/s", "X server's CPU ms/s",
         "pointer's events/s"]
SEEN = {"laser": "the laser's dot", "pen": "a line of the pen"}
PHASES = {"resting": "doesn't point", "pointing": "points", "more": "more"}
NOTE = ("Delay: from just before the browser is told of the event until the pixel is seen in the framebuffer of the "
        "sharer's X server. Capture's CPU time contains the drawing of the overlay. More: the median of the runs' "
        "differences.")


def lines(measured):
    """`measured` has the medians by part and scene."""
    found = []
    for part, columns, rows in (("delay", DELAYS, _delay_rows), ("cost", COSTS, _cost_rows)):
        all_rows = [row for (name, scene), figures in measured.items() if name == part for row in rows(scene, figures)]
        if all_rows:
            found += table(columns, all_rows) + [""]
    return found + [NOTE]


def _delay_rows(scene, figures):
    for kind, one in figures.items():
        yield [scene, SEEN[kind], "%.0f / %.0f / %.0f" % (one["p50_ms"], one["p95_ms"], one["max_ms"]),
               "%.0f / %.0f" % (one["event_p50_ms"], one["event_p95_ms"]), "%.0f" % one["to_page_p50_ms"],
               "%.0f / %.0f" % (one["from_page_p50_ms"], one["from_page_p95_ms"]),
               "%g of %d" % (one["unseen"], one["dots"])]


def _cost_rows(scene, figures):
    for phase, name in PHASES.items():
        one, sign = figures[phase], "+" if phase == "more" else ""
        yield [scene, name, *("%{}.{}f".format(sign, digits) % one[key] for key, digits in (
            ("capture_cpu", 1), ("pictures_per_second", 2), ("bytes_per_second", 0), ("host_cpu", 1),
            ("server_cpu", 1), ("moves_per_second", 0)))]
