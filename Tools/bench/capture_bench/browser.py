"""A scene as a browser shows it: shared by screenrelay, watched by Chromium, kept as a screenshot."""

import os
import select
import subprocess
import tempfile
import time

from .display import Display
from .processes import Failure, Process
from .scene import ShownScene

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
            link = _link(share)
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


def _link(share):
    output, data, deadline = share.child.stdout, b"", time.monotonic() + 20
    while time.monotonic() < deadline:
        ready, _, _ = select.select([output], [], [], max(0, deadline - time.monotonic()))
        more = os.read(output.fileno(), 4096) if ready else b""
        if not more:
            break
        data += more
        for line in data.decode(errors="replace").splitlines(keepends=True):
            if line.startswith("http") and line.endswith("\n"):
                return line.strip()
    share.require_running()
    raise Failure("screenrelay share printed no link")
