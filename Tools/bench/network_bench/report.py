"""What was measured, as tables and as JSON."""

import statistics

from bench_kit.report import circumstances, limits, number, pair, percent, table, write_json, write_markdown

_NOTES = {
    "motion": "Delay: from the scene's tick until the page presented it, of each new picture, from 2 s after the "
    "phase's start; the page says what its own bar shows. Age: how old what is shown is, at every moment from then. Frozen: seconds in gaps over 200 ms "
    "without a new picture. Link: what came over the path, of its rate. Back: since when any 2 s have 60 % of the "
    "scene's pictures. QP is that of the decoded pictures; PSNR is that of shown pictures' luma against the scene's. "
    "Retransmitted: packets received by retransmission, and their share of the received bytes. Dropped and lost are "
    "what the path did to packets towards the viewer. Checked are pictures that the browser compared with the "
    "host's samples of them; damaged is the sum of the probabilities that they aren't what the host meant.",
    "repaint": "From the X server's repaint until the page presented it; what the link needs at its rate for what "
    "passed it until then.",
    "first": "Milliseconds from the start of navigation.",
}

#: Column, and how it is made from a phase's figures.
_COLUMNS = {
    "motion": [
        ("delay p50 / p95 ms", lambda one: pair(one, "delay_p50_ms", "delay_p95_ms")),
        ("page says ms", lambda one: number(one.get("page_says_ms"))),
        ("age p95 ms", lambda one: number(one.get("age_p95_ms"))),
        ("pictures/s", lambda one: number(one.get("pictures_per_second"), 1)),
        ("frozen s", lambda one: number(one.get("frozen_seconds"), 1)),
        ("freezes/min", lambda one: number(one.get("freezes_per_minute"), 1)),
        ("back after s", lambda one: number(one.get("back_after_seconds"), 1)),
        ("received kbit/s", lambda one: number(one.get("received_kbps"))),
        ("link", lambda one: percent(one.get("link_share"))),
        ("estimate kbit/s", lambda one: number(one.get("estimate_kbps"))),
        ("QP", lambda one: number(one.get("quantizer"), 1)),
        ("PSNR dB", lambda one: number(one.get("psnr_db"), 1)),
        ("key frames", lambda one: number(one.get("key_frames"))),
        ("retransmitted", lambda one: "%s (%s)" % (number(one.get("retransmitted")),
                                                   percent(one.get("retransmitted_share")))),
        ("dropped / lost", lambda one: pair(one, "dropped", "lost")),
        ("damaged / checked", lambda one: "%s / %s" % (number(one.get("damage"), 2), number(one.get("checked")))),
    ],
    "repaint": [
        ("shown after ms", lambda one: number(one.get("shown_after_ms"))),
        ("link needs ms", lambda one: number(one.get("link_needs_ms"))),
        ("beyond ms", lambda one: number(one.get("beyond_link_ms"))),
        ("kB", lambda one: number(one.get("bytes"), 1, 0.001)),
        ("first PSNR dB", lambda one: number(one.get("first_psnr_db"), 1)),
        ("final PSNR dB", lambda one: number(one.get("final_psnr_db"), 1)),
        ("within 1 dB of it after ms", lambda one: number(one.get("sharp_after_ms"))),
    ],
    "first": [
        ("first picture ms", lambda one: number(one.get("first_picture_ms"))),
        ("longest ms", lambda one: number(one.get("first_picture_max_ms"))),
        ("page loaded ms", lambda one: number(one.get("loaded_ms"))),
        ("files", lambda one: number(one.get("files"))),
    ],
}


class Summary:
    """The medians over a course's runs, and over the viewers of a kind."""

    def __init__(self, course, runs):
        self.course, self.runs = course, runs
        self._values = {}
        for run in runs:
            for viewer in run["viewers"]:
                for phase in viewer["phases"]:
                    group = self._values.setdefault((viewer["kind"], phase["phase"]), {})
                    for key, value in phase.items():
                        if isinstance(value, (int, float)) or value is None:
                            group.setdefault(key, []).append(value)

    def value(self, kind, phase, key):
        """None where most runs have none: what happened in one run alone is not the rule."""
        values = self._values.get((kind, phase), {}).get(key, [])
        known = [value for value in values if value is not None]
        return statistics.median(known) if known and len(known) * 2 > len(values) else None

    def rows(self):
        for (kind, phase), group in self._values.items():
            yield kind, phase, {key: self.value(kind, phase, key) for key in group}

    def table(self):
        columns = _COLUMNS[self.course.kind]
        counts = {"narrow": self.course.narrow_viewers, "clean": self.course.clean_viewers}
        rows = []
        for kind, phase, figures in self.rows():
            name = kind if counts.get(kind, 1) == 1 else "%d %s" % (counts[kind], kind)
            rows.append([phase, name] + [make(figures) for _, make in columns])
        return table(["phase", "viewer"] + [name for name, _ in columns], rows)

    def host_line(self):
        """Processor time of the host's side by phase, and how good the measurement itself was."""
        parts = []
        for place, phase in enumerate(self.course.narrow if self.course.kind == "motion" else []):
            found = [run["host"][place] for run in self.runs if len(run["host"]) > place]
            known = [one for one in found if "host_cpu" in one]
            if known:
                parts.append("%s: host %.0f, capture %.0f ms a second, about %.0f pictures captured, %.0f key frames" % (
                    phase.name, *(statistics.median(one.get(key, 0) for one in known) for key in (
                        "host_cpu", "capture_cpu", "captured", "capture_key_frames"))))
        late = max(run["path_late_p99_ms"] for run in self.runs)
        parts.append("99 %% of packets left the paths at most %.1f ms late" % late)
        busy = [run["busy"] for run in self.runs if run.get("busy") is not None]
        if busy:
            parts.append("this machine was %.0f %% busy" % (100 * statistics.median(busy)))
        return "; ".join(parts) + "."


class Report:
    def __init__(self):
        self.summaries, self.checks, self.failures, self.skipped = [], [], [], []

    def write(self, options):
        write_json(options, "network", self.checks, failures=self.failures, courses=[
            {"scenario": one.course.scenario, "course": one.course.name, "scene": one.course.scene,
             "medians": [dict(viewer=kind, **dict(figures, phase=phase)) for kind, phase, figures in one.rows()],
             "runs": one.runs} for one in self.summaries])
        return write_markdown(options, "network", self._markdown(options))

    def _markdown(self, options):
        lines = ["# What viewers see over bad networks, measured", "",
                 "%s; round trip %g ms." % (circumstances(options), options.round_trip)]
        for failure in self.failures:
            lines += ["", "Failed: " + failure]
        for kind in dict.fromkeys(one.course.kind for one in self.summaries):
            lines += ["", _NOTES[kind]]
        for summary in self.summaries:
            lines += ["", "## " + summary.course.title, ""] + summary.table() + ["", summary.host_line()]
        return lines + limits(self.checks)
