"""The recording that the host shows: a scrolled text, as a real share sends it."""

import os
import signal
import time

from .display import Display
from .processes import Failure, Process, own_settings, read, wait_until


def record(program, options, folder):
    """Shares a scrolled text for so long; gives the recording's path. `program` gives the path of a program."""
    path = os.path.join(folder, "scroll.srr")
    own = own_settings(folder)
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
