"""The two tables: every program on every scene, in turns."""

from bench_kit.limits import Check, at_least, at_most
from bench_kit.processes import TROUBLE
from bench_kit.report import Section

from .limits import BYTES_SHARE, CPU_RATIO, IDLE_CPU, LIMITED_SCENES, PSNR_DISTANCE, WISHED_RATIO
from .programs import FFmpeg, GStreamer, Nothing, Pixelflux
from .run import Summary, in_turns, length, median, quality

TITLES = {
    "equal-qp": ("At equal quality: QP 23, no refinement",
                 "CPU time compares at the same quality: ours, FFmpeg and GStreamer at a quantizer of 23 for every "
                 "picture, pixelflux at the CRF whose pictures in motion are as good as ours. It takes whole CRFs "
                 "alone: where none comes close enough, ours has a row more for it, at the quantizer next to 23 that "
                 "does."),
    "product": ("As users run it",
                "Ours by its defaults (4 Mbit/s, refinement, keep-alive), the others by CRF 23 without a limit "
                "of the rate."),
}
NOTE = (" CPU and X server: milliseconds of a second, from the kernel's account of the threads; of the X server what "
        "the program adds to the scene alone. PSNR and SSIM: luma of pictures in motion, found by the drawn counter, "
        "against what was drawn, the pointer left out. Ratio: the program's CPU time by ours.")
COLUMNS = ["scene", "program", "CPU ms/s", "min-max", "X server ms/s", "pictures/s", "bytes/s", "peak MB", "PSNR dB",
           "SSIM", "ratio", "settings"]
#: The quantizer of the first table.
QUANTIZER = 23
MATCHED = "screenrelay, matched"


class Table:
    def __init__(self, bench, key):
        self.bench, self.key, self.is_equal = bench, key, key == "equal-qp"
        title, note = TITLES[key]
        self.section = Section(key, title, note + NOTE, COLUMNS)

    def measure(self):
        self.bench.report.sections.append(self.section)
        for name in self.bench.options.scenes:
            self._measure_scene(self.bench.scene(name))

    def _ours(self, quantizer=QUANTIZER):
        if not self.is_equal:
            return self.bench.ours()
        # These options are for this table, and --help doesn't show them.
        return self.bench.ours("--constant-qp", str(quantizer), "--no-refinement")

    def _makers(self, crf, quantizer):
        bench = self.bench
        known = {
            "ffmpeg": lambda: FFmpeg(["-qp", "23"] if self.is_equal else ["-crf", "23"]),
            "gstreamer": lambda: GStreamer(False, self.is_equal),
            "gstreamer-damage": lambda: GStreamer(True, self.is_equal),
        }
        if bench.pixelflux:
            known["pixelflux"] = lambda: Pixelflux(bench.pixelflux, crf, not self.is_equal)
        makers = {"nothing": Nothing, "screenrelay": self._ours}
        if quantizer != QUANTIZER:
            makers[MATCHED] = lambda: self._ours(quantizer)
        makers.update({peer: known[peer] for peer in bench.options.peers if peer in known})
        return makers

    def _measure_scene(self, scene):
        options, report = self.bench.options, self.bench.report
        crf, quantizer = 23, QUANTIZER
        if self.is_equal and self.bench.pixelflux and "pixelflux" in options.peers:
            try:
                crf, quantizer = self._matched(scene)
            except TROUBLE as error:
                report.failures.append("pixelflux's CRF for %s: %s" % (scene.name, error))
        makers = self._makers(crf, quantizer)
        results = {name: [] for name in makers}
        seconds = length(scene, options)
        for number, name in in_turns(makers, options.runs):
            try:
                run = self.bench.record(makers[name], scene, seconds)
                found = quality(run, makers[name]().matrix, options.samples) if name != "nothing" else None
                results[name].append((run, found))
                self.bench.say("%s, %s, run %d: %s %.1f ms/s, %.1f pictures/s%s" % (
                    self.key, scene.name, number + 1, name, run.cpu, run.pictures_per_second,
                    ", %.2f dB" % found.psnr if found else ""))
                self.bench.forget_run(run)
            except TROUBLE as error:
                report.failures.append("%s on %s (%s): %s" % (name, scene.name, self.key, error))
        self._add_rows(scene, results, crf, quantizer)

    def _matched(self, scene):
        """The CRF of pixelflux and the quantizer of ours whose pictures in motion are equally good: the table's
        quantizer where a whole CRF comes close enough to it, else one next to it if that comes closer."""
        found, best = {}, None
        for quantizer in (QUANTIZER, QUANTIZER + 1, QUANTIZER - 1):
            ours = self._quality(lambda: self._ours(quantizer), "601", scene)
            if ours is None:
                break
            crf = self._closest_crf(ours, found, scene)
            if crf is None:
                break
            distance = abs(found[crf] - ours)
            if best is None or distance < best[0]:
                best = distance, crf, quantizer
            # Runs differ a little: what is just within the limit once may not be the next time.
            if best[0] <= 0.9 * PSNR_DISTANCE or self.bench.options.quick:
                break
        return best[1:] if best else (23, QUANTIZER)

    def _closest_crf(self, ours, found, scene):
        """The CRF whose PSNR is closest to `ours`; `found` has those that were tried, in dB."""
        crf = min(found, key=lambda one: abs(found[one] - ours)) if found else 23
        for _ in range(2 if self.bench.options.quick else 5):
            if crf not in found:
                theirs = self._quality(lambda: Pixelflux(self.bench.pixelflux, crf, False), None, scene)
                if theirs is None:
                    break
                found[crf] = theirs
            distance = found[crf] - ours
            if abs(distance) <= PSNR_DISTANCE / 2:
                break
            step = round(distance / 0.8)
            crf = max(1, min(48, crf + (step or (1 if distance > 0 else -1))))
        return min(found, key=lambda one: abs(found[one] - ours)) if found else None

    def _quality(self, make_program, matrix, scene):
        """The PSNR in motion of one run, in dB; None for a scene whose counter stands still."""
        run = self.bench.record(make_program, scene, self.bench.options.seconds)
        found = quality(run, matrix, self.bench.options.samples)
        self.bench.forget_run(run)
        return found.psnr if found else None

    def _add_rows(self, scene, results, crf, quantizer):
        alone = median([run.server_cpu for run, _ in results["nothing"]])
        ours = Summary(results["screenrelay"]) if results["screenrelay"] else None
        # A row more, where there is one, is what pixelflux is compared with.
        matched = ours
        if MATCHED in results:
            matched = Summary(results[MATCHED]) if results[MATCHED] else None
        for name, runs in results.items():
            if name == "nothing":
                continue
            if not runs:
                self.section.add(scene.name, name, "failed", *[""] * (len(COLUMNS) - 3))
                continue
            one = Summary(runs)
            compared = matched if name == "pixelflux" else ours
            ratio = one.times(compared) if compared else None
            settings = {MATCHED: "QP %d" % quantizer, "pixelflux": "CRF %d" % crf}.get(
                name, "QP %d" % QUANTIZER if self.is_equal else "defaults" if name == "screenrelay" else "CRF 23")
            self.section.add(
                scene.name, name, "%.2f" % one.cpu, "%.2f-%.2f" % one.cpu_range, "%.1f" % (one.server - alone),
                "%.1f" % one.pictures, "%.0f" % one.bytes, "%.1f" % one.memory,
                "%.2f" % one.psnr if one.psnr else "", "%.5f" % one.ssim if one.ssim else "",
                "%.1f" % ratio if ratio and name not in ("screenrelay", MATCHED) else "", settings)
            if compared and name in CPU_RATIO:
                self._check(scene, name, one, compared, ratio)
        if ours:
            self._check_ours(scene, ours)

    def _check(self, scene, name, peer, ours, ratio):
        checks, height = self.bench.report.checks, scene.size[1]
        if scene.name not in LIMITED_SCENES[height]:
            return
        title = "%s, %s: " % (self.key, scene.name)
        check = at_least(title + "times less CPU than " + name, ratio, CPU_RATIO[name][scene.name], "times")
        if name == "ffmpeg" and ratio >= WISHED_RATIO.get(scene.name, float("inf")):
            check.value += " (what we wished for: %g)" % WISHED_RATIO[scene.name]
        checks.append(check)
        if self.is_equal and peer.psnr and ours.psnr:
            distance = ours.psnr - peer.psnr
            checks.append(Check(title + "PSNR in motion, ours less " + name + "'s", "%+.2f dB" % distance,
                                "within %g dB" % PSNR_DISTANCE, abs(distance) <= PSNR_DISTANCE))
            checks.append(at_most(title + "bytes as a share of " + name + "'s", ours.bytes / max(peer.bytes, 1),
                                  BYTES_SHARE, "times"))

    def _check_ours(self, scene, ours):
        if scene.name == "idle":
            self.bench.report.checks.append(
                at_most("%s, idle: CPU time" % self.key, ours.cpu, IDLE_CPU[scene.size[1]], "ms/s"))
