"""What all scenarios share: the programs, the scenes, a folder, and a voice."""

import json
import os
import shutil
import sys

from capture_bench.bench import build
from capture_bench.processes import TROUBLE, Missing
from capture_bench.scene import Scene

PROGRAMS = ["screenrelay", "screenrelay-capture", "screenrelay-scene"]


class Bench:
    def __init__(self, options, folder, names=PROGRAMS):
        self.options, self.folder = options, folder
        self.programs = options.programs or build(self.say, names)
        for name in names:
            if not os.access(self.program(name), os.X_OK):
                raise Missing("--programs %s: there is no %s" % (self.programs, name))
        self._scenes, self._count = {}, 0

    def program(self, name):
        return os.path.join(os.path.abspath(self.programs), name)

    def say(self, text):
        sys.stderr.write("%s\n" % text)
        sys.stderr.flush()

    def scene(self, name):
        if name not in self._scenes:
            self._scenes[name] = Scene(self.program("screenrelay-scene"), name, self.options.size)
        return self._scenes[name]

    def new_folder(self):
        """A run's; its path is short, because a Unix socket's path is short by law (108 bytes)."""
        self._count += 1
        folder = os.path.join(self.folder, "%d" % self._count)
        os.makedirs(folder)
        return folder

    def run_twice(self, title, measure):
        """One run, `measure(folder)`; one that fails is repeated once. None if it fails again."""
        for attempt in (1, 2):
            folder = self.new_folder()
            try:
                return measure(folder)
            except TROUBLE as error:
                self.say("%s failed%s: %s" % (title, "" if attempt == 1 else " again", error))
            finally:
                self.forget(folder)
        return None

    def run_all(self, name, measure):
        """Measures as often as the options say; gives the figures, and the names of the runs that failed twice."""
        found, failures = [], []
        for number in range(self.options.runs):
            self.say("%s, run %d of %d" % (name, number + 1, self.options.runs))
            figures = self.run_twice(name, lambda folder: measure(self, folder))
            if figures:
                found.append(figures)
            else:
                failures.append("%s, run %d" % (name, number + 1))
        return found, failures

    def forget(self, folder):
        """Keeps what was recorded, if wanted, and removes everything else."""
        if self.options.keep and os.path.isdir(folder):
            kept = os.path.join(self.options.out, "records", os.path.basename(folder))
            os.makedirs(kept, exist_ok=True)
            for name in os.listdir(folder):
                if name.endswith((".json", ".log")):
                    shutil.copy(os.path.join(folder, name), kept)
        shutil.rmtree(folder, ignore_errors=True)

    def keep(self, folder, name, document):
        """Writes what was recorded in a run, for --keep."""
        if self.options.keep:
            with open(os.path.join(folder, name + ".json"), "w") as file:
                json.dump(document, file)

    def keep_records(self, folder, viewer, began):
        self.keep(folder, viewer.name, {
            "began": began, "pictures": viewer.pictures, "statistics": viewer.statistics,
            "samples": viewer.samples, "estimates": viewer.host_estimates})
