"""What all parts of the measurement share: the programs, the scenes, a folder, and a voice."""

import os
import shutil
import subprocess
import sys

from .processes import Missing
from .programs import Ours, pixelflux_python
from .run import record_twice
from .scene import Scene

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


class Bench:
    def __init__(self, options, report, folder):
        self.options, self.report, self.folder = options, report, folder
        names = ["screenrelay-capture", "screenrelay-scene"]
        if "text" in options.parts:
            names += ["screenrelay", "screenrelay-browser-check"]
        self.programs = options.programs or build(self.say, names)
        for name in names:
            if not os.access(self.program(name), os.X_OK):
                raise Missing("--programs %s: there is no %s" % (self.programs, name))
        self.capture = self.program("screenrelay-capture")
        self.scene_program = self.program("screenrelay-scene")
        self.capture_help = subprocess.run([self.capture, "--help"], stdout=subprocess.PIPE, timeout=30).stdout.decode()
        self.pixelflux = None
        if "pixelflux" in options.peers and options.tables:
            self.pixelflux, problem = pixelflux_python(os.path.join(REPOSITORY, ".build", "capture-bench-peers"))
            if problem:
                self.say("pixelflux is left out: " + problem)
                report.remark("pixelflux was left out: %s." % problem)
        self._scenes, self._count = {}, 0

    def program(self, name):
        return os.path.join(self.programs, name)

    def say(self, text):
        sys.stderr.write("%s\n" % text)
        sys.stderr.flush()

    def scene(self, name, size=None):
        key = (name, size or self.options.size)
        if key not in self._scenes:
            self._scenes[key] = Scene(self.scene_program, *key)
        return self._scenes[key]

    def can(self, option):
        """Whether screenrelay-capture has an option."""
        return "--" + option in self.capture_help

    def ours(self, *arguments):
        hidden = ["--hide", self.options.hide] if self.options.hide else []
        return Ours(self.capture, [*hidden, *arguments])

    def record(self, make_program, scene, seconds, lead=None, tail=0.15):
        """A run; its stream stays until `forget`."""
        self._count += 1
        folder = os.path.join(self.folder, "%04d-%s" % (self._count, scene.name))
        return record_twice(self.say, make_program, scene, folder, seconds,
                            self.options.lead if lead is None else lead, tail)

    def forget(self, run):
        if not self.options.keep:
            shutil.rmtree(os.path.dirname(run.path), ignore_errors=True)


def build(say, names, package=REPOSITORY, folder=os.path.join(REPOSITORY, ".build", "capture-bench")):
    """Builds what is measured as it is shipped: optimized, with Swift's own libraries inside. Gives the folder of the
    programs, which is in `folder`."""
    for product in names:
        say("building " + product)
        command = ["swift", "build", "--package-path", package, "-c", "release", "--static-swift-stdlib",
                   "-Xswiftc", "-cross-module-optimization", "--product", product, "--scratch-path", folder]
        try:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except OSError as error:
            raise Missing("swift can't be started: %s" % error)
        if result.returncode != 0:
            raise Missing("%s can't be built:\n%s" % (product, result.stdout.decode(errors="replace")[-2000:]))
    return os.path.join(folder, "release")
