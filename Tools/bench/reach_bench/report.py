"""What was measured, as tables and as JSON."""

import statistics

from bench_kit.report import circumstances, limits as limit_lines, number, table, write_json, write_markdown
from network_bench.report import Summary

from . import limits, nats
from .courses import CLEAN, NARROW

NOTES = {
    "proxy": "Only the proxy's port can be reached. First picture: from opening the page, the longest in brackets. "
    "Played by: what the page plays pictures with. Delay: from the scene's tick until the page presented its picture, "
    "from 2 s after the phase's start.",
    "blocked": "UDP is dropped, TCP isn't. First picture: from when the page has asked the host for pictures, and from "
    "opening the page. Why no better path: as the page says.",
    "direct": "Everything gets through. Decoded: by the browser's getStats.",
}


class Row:
    """The runs of all scenes of one way."""

    def __init__(self, way):
        self.way, self.summaries = way, {}

    def add(self, course, runs):
        self.summaries[course.scene] = Summary(course, runs)

    def value(self, scene, phase, key):
        """The median over the runs; None if there is none."""
        return self.summaries[scene].value("narrow", phase, key) if scene in self.summaries else None

    def facts(self):
        return [viewer["facts"] for summary in self.summaries.values() for run in summary.runs
                for viewer in run["viewers"]]

    def fact(self, key, choose=statistics.median):
        """The median over all openings of the page."""
        return choose(one[key] for one in self.facts())

    def said(self, key):
        """What the pages have said, each thing once."""
        values = [one[key] for one in self.facts()]
        return list(dict.fromkeys(line for one in values for line in (one if isinstance(one, list) else [one])))

    def cells(self):
        return {"proxy": self._proxy, "blocked": self._blocked, "direct": self._direct}[self.way.course]()

    def _proxy(self):
        context = "secure" if all(self.said("is_secure")) else "not secure"
        return {
            "between": self.way.proxy, "viewer": "%s by %s" % (self.way.browser.title(), self.way.scheme),
            "first picture": self._seconds("first_picture_s"), "path": ", ".join(self.said("path")),
            "played by": "%s (page %s)" % (", ".join(self.said("player")), context),
            "typing p50 / p95 ms, pictures/s": self._motion(CLEAN, "typing"),
            "scrolled text p50 / p95 ms, pictures/s": self._motion(CLEAN),
            "at 1 Mbit/s p50 / p95 ms, pictures/s": self._motion(NARROW),
            "longest gap there": "%s ms" % number(self.value("scroll", NARROW, "longest_gap_ms"), 0)}

    def _blocked(self):
        return {
            "viewer": self.way.browser.title(), "first picture after asking": self._seconds("asked_s"),
            "after opening": self._seconds("first_picture_s"), "path": ", ".join(self.said("path")),
            "scrolled text p50 / p95 ms, pictures/s": self._motion(CLEAN),
            "why no better path": " ".join(
                line for line in self.said("notes") if line.split(":")[0] in ("UDP", "TCP", "Relay"))}

    def _direct(self):
        return {
            "viewer": self.way.browser.title(), "first picture": self._seconds("first_picture_s"),
            "path": ", ".join(self.said("path")), "played by": ", ".join(self.said("player")),
            "decoded": number(self.value("scroll", CLEAN, "decoded"), 0),
            "scrolled text p50 / p95 ms, pictures/s": self._motion(CLEAN)}

    def _seconds(self, key):
        return "%.1f s (%.1f s)" % (self.fact(key), self.fact(key, max))

    def _delays(self, scene, phase):
        return " / ".join(number(self.value(scene, phase, key), 0) for key in ("delay_p50_ms", "delay_p95_ms"))

    def _motion(self, phase, scene="scroll"):
        pictures = self.value(scene, phase, "pictures_per_second")
        return "%s, %s" % (self._delays(scene, phase), number(pictures, 1))


def differences(rows):
    """Lines that tell what Firefox lacks and has besides, where both browsers were seen."""
    features = {row.way.browser: next((one["features"] for one in row.facts() if "features" in one), None)
                for row in rows}
    ours, theirs = features.get("chromium"), features.get("firefox")
    if not ours or not theirs:
        return []
    lines = ["", "What Firefox does otherwise than Chromium:", ""]
    for title, names in ours.items():
        lacks, more = ([name for name in one if name not in other] for one, other in (
            (names, theirs[title]), (theirs[title], names)))
        parts = [word + ", ".join("`%s`" % name for name in some)
                 for word, some in (("without ", lacks), ("with ", more)) if some]
        if parts:
            lines.append("- %s: %s" % (title, "; ".join(parts)))
    return lines


class Report:
    def __init__(self):
        self.rows, self.nats, self.failures = [], [], []

    def add(self, course, runs):
        if isinstance(course, nats.Course):
            self.nats.append((course, runs))
            return
        way = course.facts["way"]
        row = next((one for one in self.rows if one.way == way), None)
        if not row:
            row = Row(way)
            self.rows.append(row)
        row.add(course, runs)

    def checks(self):
        return [check for row in self.rows for check in limits.checks(row)] + [
            check for course, runs in self.nats for check in nats.checks(course, runs)]

    def tables(self):
        lines = []
        for course in dict.fromkeys(row.way.course for row in self.rows):
            rows = [row for row in self.rows if row.way.course == course]
            cells = [row.cells() for row in rows]
            lines += ["", "## " + course, "", NOTES[course], ""]
            lines += table(list(cells[0]), [list(one.values()) for one in cells])
            lines += differences(rows) if course == "direct" else []
        return lines + (nats.lines(self.nats) if self.nats else [])

    def write(self, options):
        write_json(options, "reach", self.checks(), failures=self.failures, courses=[
            {"way": vars(row.way), "scene": scene, "runs": summary.runs}
            for row in self.rows for scene, summary in row.summaries.items()] + [
            dict(vars(course), runs=runs) for course, runs in self.nats])
        lines = ["# What viewers see through difficult networks, measured", "",
                 "%s; round trip %g ms." % (circumstances(options), options.round_trip)]
        for failure in self.failures:
            lines += ["", "Failed: " + failure]
        return write_markdown(options, "reach", lines + self.tables() + limit_lines(self.checks()))
