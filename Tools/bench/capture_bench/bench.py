"""What all parts of the measurement share: the programs, the scenes, a folder, and a voice."""

import os
import shutil
import subprocess

from bench_kit import bench
from bench_kit.bench import REPOSITORY
from bench_kit.recorders import Ours

from .programs import pixelflux_python
from .run import record_twice


class Bench(bench.Bench):
    def __init__(self, options, report, folder):
        names = ["screenrelay-capture", "screenrelay-scene"]
        if "replay" in options.parts:
            names += ["screenrelay"]
        super().__init__(options, folder, names)
        self.report, self.capture = report, self.program("screenrelay-capture")
        self.scene_program = self.program("screenrelay-scene")
        self.capture_help = subprocess.run([self.capture, "--help"], stdout=subprocess.PIPE, timeout=30).stdout.decode()
        self.pixelflux = None
        if "pixelflux" in options.peers and options.tables:
            self.pixelflux, problem = pixelflux_python(os.path.join(REPOSITORY, ".build", "capture-bench-peers"))
            if problem:
                self.say("pixelflux is left out: " + problem)
                report.remark("pixelflux was left out: %s." % problem)

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

    def forget_run(self, run):
        if not self.options.keep:
            shutil.rmtree(os.path.dirname(run.path), ignore_errors=True)
