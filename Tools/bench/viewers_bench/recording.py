"""The recording that the host shows: a scrolled text, as a real share sends it."""

import os
import signal
import time

from capture_bench.display import Display
from capture_bench.processes import Failure, Process, wait_until


def record(program, options, folder):
    """Shares a scrolled text for so long; gives the recording's path. `program` gives the path of a program."""
    path = os.path.join(folder, "scroll.srr")
    own = environment(folder)
    with Display(options.size, folder) as display:
        log = os.path.join(folder, "scene.log")
        scene = Process("scene", [program("screenrelay-scene"), "--display", display.name, "--scene", "scroll"], log)
        try:
            wait_until(lambda: "ready" in read(log), 15, "the scene")
            share = Process(
                "share", [program("screenrelay"), "share", "--no-config", "--display", display.name, "--bitrate",
                          str(options.bit_rate), "--record", path, "--listen", "127.0.0.1:0", "--udp-port", "0"],
                os.path.join(folder, "share.log"), own)
            try:
                wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 10_000, 20, "the first picture")
                # Not a wait for anything: it is the length of the recording.
                time.sleep(options.length)
                share.require_running()
            finally:
                share.stop(signal.SIGINT)
            if share.child.returncode != 0:
                raise Failure("share ended with %d: %s" % (share.child.returncode, share.last_words()))
        finally:
            scene.stop()
    return path


def environment(folder):
    """Neither the user's settings nor other shares are touched."""
    return {name: folder for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME")}


def read(path):
    with open(path, errors="replace") as file:
        return file.read()
