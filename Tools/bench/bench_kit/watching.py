"""The watcher's process, as the benchmarks use it."""

import json
import os
import subprocess
import sys

from .processes import Process


class WatcherProcess(Process):
    """A process that watches from its start until `finish`: a module that calls `watcher.watch`, with these words."""

    def __init__(self, module, words, folder):
        super().__init__("the watcher", [sys.executable, "-m", module, *words], os.path.join(folder, "watcher.log"),
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.read_line(10, "ready")
        except BaseException:
            self.close()
            raise

    def finish(self):
        """Ends the watching, and gives what was seen."""
        self.child.stdin.close()
        return json.loads(self.read_line(10, "what was seen"))

    def close(self):
        self.stop()


class Watcher(WatcherProcess):
    """Watches the framebuffer in the folder `drawn`, if it isn't None, and those of `shown`: (folder, x, y, scale)
    each."""

    def __init__(self, drawn, shown, folder):
        words = [word for where, *place in shown for word in (where, *("%f" % one for one in place))]
        super().__init__("bench_kit.watcher", [drawn or "", *words], folder)
