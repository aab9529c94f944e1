"""Shows scenes of programs, captures each with every build that is named, and prints what viewers see."""

import os
import statistics
import sys

from bench_kit.bench import build
from bench_kit.figures import medians
from bench_kit.outcome import carry_out, conclude
from bench_kit.processes import TROUBLE, Missing
from bench_kit.report import table, write_json
from bench_kit.room import busy_share, busy_time

from .beside import Share, WebRTCBin
from .limits import SHARP, checks
from .options import parse
from .scenes import SCENES
from .stage import run

#: Rates that differ less than this are the same.
SAME_RATE = 0.95
COLUMNS = [("painted", "painted fps", "%.1f"), ("fps", "fps", "%.1f"), ("qp", "QP", "%.1f"), ("mbit", "Mbit/s", "%.2f"),
           ("share", "of the rate", "%.0f %%"), ("freezes", "freezes", "%g"), ("age_p95", "age p95 ms", "%.0f"),
           ("psnr", "PSNR", "%.1f"), ("beside", "webrtcbin's at these bytes", "%.1f"),
           ("psnr_after", "PSNR 1 s after", "%.1f"), ("cpu", "CPU %", "%.1f"), ("memory", "peak MiB", "%.1f")]


def main():
    options = parse(sys.argv[1:])
    return carry_out("programs", lambda folder: Measurement(options, folder).carry_out(), options.keep)


def say(text):
    print(text, file=sys.stderr, flush=True)


class Measurement:
    def __init__(self, options, folder):
        self.options, self.folder, self.failures, self.results, self.busy = options, folder, [], {}, []
        if options.beside:
            WebRTCBin.require()
        for scene in options.scenes:
            scene.require()
        self.builds = options.programs or {"ours": build(say, ["screenrelay-capture", "screenrelay-scene"])}
        for where in self.builds.values():
            for name in ("screenrelay-capture", "screenrelay-scene"):
                if not os.access(os.path.join(where, name), os.X_OK):
                    raise Missing("--programs %s: there is no %s" % (where, name))

    def carry_out(self):
        """Measures all scenes; gives the exit code."""
        for scene in self.options.scenes:
            scene.prepare(say, next(iter(self.builds.values())))
            runs = {label: [] for label in [*self.builds, *filter(None, [self.options.beside])]}
            for number in range(self.options.runs):
                self._run_all(scene, number, runs)
            self.results[scene.name] = {label: {"medians": medians(some), "runs": some}
                                        for label, some in runs.items() if some}
        found = [one for name, entries in self.results.items() for label, entry in entries.items()
                 if label in self.builds for one in checks(SCENES[name], label, entry["medians"])]
        self._write(found)
        return conclude(self.failures, found, self.options.check)

    def _run_all(self, scene, number, runs):
        """One run of each build, and one of what is measured beside them."""
        taken = {}
        for label, where in list(self.builds.items())[::1 if number % 2 == 0 else -1]:
            capture = os.path.join(where, "screenrelay-capture")
            taken[label] = self._run_twice(
                scene, label, number,
                lambda: Share(capture, ["--bitrate", str(self.options.bit_rate), *self.options.arguments]))
        if self.options.beside:
            name, rate = self.options.beside, self.options.bit_rate
            theirs = taken[name] = self._run_twice(scene, name, number, lambda: WebRTCBin(rate))
            for one in (taken[label] for label in self.builds if theirs and taken[label]):
                if needs_same_bytes(one, theirs):
                    again = self._run_twice(scene, "%s at %.2f Mbit/s" % (name, one["mbit"]), number,
                                            lambda: WebRTCBin(int(one["mbit"] * 1e6)))
                    one |= {"beside": again["psnr"]} if again else {}
                else:
                    one["beside"] = theirs["psnr"]
        for label, one in taken.items():
            if one:
                say("%s, %s, run %d: %s" % (scene.name, label, number + 1, ", ".join(
                    "%s %s" % (title, cell) for (_, title, _), cell in zip(COLUMNS, cells(one)))))
                runs[label].append(one)

    def _run_twice(self, scene, label, number, make_sender):
        """The figures of a run, which is tried once more where it fails; None if both fail."""
        title = "%s, %s, run %d" % (scene.name, label, number + 1)
        for attempt in (1, 2):
            folder = os.path.join(self.folder, "%s-%s-%d-%d" % (scene.name, label, number + 1, attempt))
            before = busy_time()
            try:
                found = run(scene, make_sender(), self.options, folder)
            except TROUBLE as error:
                say("%s failed%s: %s" % (title, "" if attempt == 1 else " again", error))
                continue
            self.busy.append(busy_share(before))
            return found
        self.failures.append(title)
        return None

    def _write(self, found):
        """Writes programs.json, and prints the table."""
        write_json(self.options, "programs", found, scenes=self.results)
        rows = [[name + (" (held out)" if SCENES[name].is_held_out else ""), label, *cells(entry["medians"])]
                for name, entries in self.results.items() for label, entry in entries.items()]
        print("\n".join(table(["scene", "sender"] + [title for _, title, _ in COLUMNS], rows)))
        if self.busy:
            print("\nThis machine was %.0f %% busy." % (100 * statistics.median(self.busy)))


def needs_same_bytes(ours, theirs):
    """Whether the scene has to be sent again at our rate, because more bytes may be what made the difference. Where less
    is seen with more bytes, or from SHARP on, nothing can be gained."""
    return ours["mbit"] < SAME_RATE * theirs["mbit"] and ours["psnr"] < min(theirs["psnr"], SHARP)


def cells(found):
    """A row of the table; what is not known is a dash."""
    scaled = {**found, "share": found["share"] * 100}
    return [shape % scaled[key] if key in scaled else "–" for key, _, shape in COLUMNS]


sys.exit(main())
