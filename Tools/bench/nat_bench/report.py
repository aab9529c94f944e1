"""What was measured, as a table and as JSON."""

import json
import os
import platform
import statistics
import time

from capture_bench.report import circumstances, limits, processor, table

_COLUMNS = ["course", "host's NAT", "viewer's NAT", "way", "pair: viewer, host", "protocol",
            "first picture s (longest)", "the page's panel", "the host sends to"]

_NOTE = (
    "First picture: from the start of navigation, the median and the longest of the runs. Pair: the types of the two "
    "candidates that the page's getStats names %g s after the first picture. Protocol: that of the viewer's packets; "
    "for a relay, that to the relay. Before a course's first run, coturn's turnutils_natdiscovery has found both NATs "
    "to be as named.")


class Report:
    def __init__(self, settling):
        self.settling = settling
        self.courses, self.checks, self.failures = [], [], []

    def add(self, course, runs, checks):
        self.courses.append((course, runs))
        self.checks += checks

    def table(self):
        return table(_COLUMNS, [_row(course, runs) for course, runs in self.courses])

    def write(self, options):
        os.makedirs(options.out, exist_ok=True)
        document = {
            "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "processors": os.cpu_count(), "processor": processor(),
            "linux": platform.release(), "options": vars(options), "failures": self.failures,
            "courses": [dict(vars(course), runs=runs) for course, runs in self.courses],
            "limits": [vars(one) for one in self.checks]}
        with open(os.path.join(options.out, "nat.json"), "w") as file:
            json.dump(document, file, indent=1)
        path = os.path.join(options.out, "nat.md")
        with open(path, "w") as file:
            lines = ["# Through NATs, measured", "", circumstances(options) + ".", "", _NOTE % self.settling]
            lines += ["Failed: " + failure for failure in self.failures]
            file.write("\n".join(lines + [""] + self.table() + limits(self.checks)) + "\n")
        return path


def _row(course, runs):
    times = [run["first_picture_s"] for run in runs if run["first_picture_s"] is not None]
    return [course.name, course.host_nat, course.viewer_nat + ("" if course.has_udp else ", no UDP"),
            _shown(runs, lambda run: run["way"]),
            _shown(runs, lambda run: "%s, %s" % (run["local"], run["remote"]) if run["local"] else "–"),
            _shown(runs, lambda run: run["relay_protocol"] or run["protocol"] or "–"),
            "%.1f (%.1f)" % (statistics.median(times), max(times)) if len(times) == len(runs) else "never",
            _shown(runs, lambda run: run["panel"][0] if run["panel"] else "–"), _shown(runs, _destination)]


def _destination(run):
    host = run["host_says"]
    return "%s, %s" % (host["address"], host["transport"]) if host else "–"


def _shown(runs, tell):
    """What all runs have in common, or each of the things that differ."""
    return "; ".join(dict.fromkeys(tell(run) for run in runs))
