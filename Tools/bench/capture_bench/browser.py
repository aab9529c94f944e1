"""A scene as a browser shows it: shared by screenrelay, watched by Chromium, kept as a screenshot."""

import os
import subprocess
import tempfile

from bench_kit.display import Display
from bench_kit.processes import Failure, Process, printed_link
from bench_kit.shown_scene import ShownScene

#: Chromium's window holds a picture of this size almost pixel by pixel.
SIZE = (1280, 720)


def screenshot(bench, scene, arguments, path):
    """Shares `scene` with these arguments of `screenrelay share`, and writes what Chromium shows of it as PNG."""
    with tempfile.TemporaryDirectory(prefix="crb") as folder, Display(scene.size, folder) as display:
        shown, share = None, None
        try:
            shown = ShownScene(scene, display, 1, folder)
            share = Process(
                "screenrelay share",
                [bench.program("screenrelay"), "share", "--display", display.name, "--listen", "127.0.0.1:0",
                 "--udp-port", "0", *arguments],
                os.path.join(folder, "share.log"), stdout=subprocess.PIPE)
            link = printed_link(share)
            # The pictures after the first are refinement: the time is up when it is over, as nothing else changes.
            result = subprocess.run(
                [bench.program("screenrelay-browser-check"), "--link", "-", "--frames", "1", "--timeout", "6",
                 "--screenshot", path],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, input=link.encode() + b"\n", timeout=120)
        except subprocess.TimeoutExpired:
            raise Failure("the browser did not end within 120 s")
        finally:
            for process in (share, shown.process if shown else None):
                if process:
                    process.stop()
    said = result.stdout.decode(errors="replace")
    # Its exit code tells that the picture did not change, as it should not.
    if not os.path.exists(path) or "frames decoded: 0" in said:
        raise Failure("the browser showed no picture: " + said.strip()[-300:])
