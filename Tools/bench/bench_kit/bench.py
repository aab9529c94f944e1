"""What all scenarios share: the programs, the scenes, a folder, and a voice."""

import json
import os
import shutil
import subprocess
import sys

from .processes import TROUBLE, Missing
from .scene import Scene

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAMS = ["screenrelay", "screenrelay-capture", "screenrelay-scene"]


class Bench:
    def __init__(self, options, folder, names=PROGRAMS, **package):
        """`names` are the programs, which are built unless the options have their folder; `package` is for `build`."""
        self.options, self.folder = options, folder
        self.programs = options.programs or build(self.say, names, **package)
        for name in names:
            if not os.access(self.program(name), os.X_OK):
                raise Missing("--programs %s: there is no %s" % (self.programs, name))
        self._scenes, self._count = {}, 0

    def program(self, name):
        return os.path.join(os.path.abspath(self.programs), name)

    def say(self, text):
        sys.stderr.write("%s\n" % text)
        sys.stderr.flush()

    def scene(self, name, size=None):
        key = (name, size or self.options.size)
        if key not in self._scenes:
            self._scenes[key] = Scene(self.program("screenrelay-scene"), *key)
        return self._scenes[key]

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

    def run_all(self, title, measure, failures):
        """The figures of as many runs as the options say: what `measure(folder, number)` gives. `failures` gets the names
        of the runs that failed twice."""
        return [one for number in range(self.options.runs) for one in self.run_once(title, measure, failures, number)]

    def run_once(self, title, measure, failures, number):
        """The figures of one of these runs in a list, which is empty if it failed twice."""
        self.say("%s, run %d of %d" % (title, number + 1, self.options.runs))
        figures = self.run_twice(title, lambda folder: measure(folder, number))
        if not figures:
            failures.append("%s, run %d" % (title, number + 1))
        return [figures] if figures else []

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


def build(say, names, package=REPOSITORY, scratch=os.path.join(REPOSITORY, ".build", "capture-bench")):
    """Builds what is measured as it is shipped: optimized, with Swift's own libraries inside. Gives the folder of the
    programs, which is in `scratch`."""
    for product in names:
        say("building " + product)
        command = ["swift", "build", "--package-path", package, "-c", "release", "--static-swift-stdlib",
                   "-Xswiftc", "-cross-module-optimization", "--product", product, "--scratch-path", scratch]
        try:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except OSError as error:
            raise Missing("swift can't be started: %s" % error)
        if result.returncode != 0:
            raise Missing("%s can't be built:\n%s" % (product, result.stdout.decode(errors="replace")[-2000:]))
    return os.path.join(scratch, "release")
