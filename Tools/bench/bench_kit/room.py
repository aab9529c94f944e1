"""The host's side: a scene on a display, shared in a network namespace, and what the host says of itself."""

import os
import subprocess

from .display import Display
from .processes import Failure, Process, control_answer, own_settings, printed_link, thread_times

PORT, UDP_PORT = 8080, 8189


class Room:
    """A scene that is shown, and `screenrelay share`; both stand until `close`."""

    #: What the scene is shown on: a Display, or what has the same methods.
    display_type = Display

    def __init__(self, bench, scene, ticks, network, folder, bit_rate, has_moved=False, display_options=(),
                 share_options=(), environment=None, address=None, prefix=()):
        """The share is in the namespace of `network`, or, if that is None, on this machine: at `address`, or on
        loopback.

        `has_moved`: the scene moves through all its ticks before the share begins, so that no viewer sees it move.
        `share_options` and `environment` are the share's, besides what it gets in any case, and `prefix` are words before
        its command.
        """
        self.folder = folder
        self.share_options, self.environment, self.address = share_options, environment or {}, address
        self.prefix = [*(network.prefix if network else []), *prefix]
        self.display, self.shown, self.share = None, None, None
        try:
            self.display = self.display_type(scene.size, folder, display_options)
            self.shown = self.display.show(scene, ticks, folder)
            if has_moved:
                self.shown.start()
                self.shown.wait_for_end()
            self.start_share(bench, network, bit_rate)
        except BaseException:
            self.close()
            raise

    def start_share(self, bench, network, bit_rate):
        """Starts what shares the display, and learns the link that it prints."""
        command = [bench.program("screenrelay"), "share", *self.display.capture_options, "--no-config",
                   *(["--bitrate", str(bit_rate)] if bit_rate else []), *self.share_options, *bench.options.share]
        if network:
            command += ["--lan", "--listen", "0.0.0.0:%d" % PORT, "--udp-port", str(UDP_PORT)]
        elif self.address:
            command += ["--lan", "--listen", self.address + ":0", "--udp-port", "0"]
        else:
            command += ["--listen", "127.0.0.1:0", "--udp-port", "0"]
        # Neither the user's settings nor his other shares are touched.
        own = {**own_settings(self.folder), **self.environment}
        self.share = Process("screenrelay share", self.prefix + command, os.path.join(self.folder, "share.log"), own,
                             stdout=subprocess.PIPE)
        self.printed_link = printed_link(self.share)

    def link(self, address):
        """The room's link for a viewer who reaches the host at this address."""
        return "http://%s:%d/#%s" % (address, PORT, self.printed_link.split("#", 1)[1])

    def ask(self, command):
        """What the host answers on its control socket (Protocol/control.md), as JSON; None if it answers nothing."""
        try:
            return control_answer(
                self.share.pid, self.environment.get("XDG_RUNTIME_DIR", self.folder), command, 2)
        except Failure:
            return None

    def processor_times(self):
        """Nanoseconds of processor time so far: of the host and of its captures, by the kernel's account."""
        host = sum(thread_times(self.share.pid).values())
        captures = 0
        for pid in children(self.share.pid):
            try:
                captures += sum(thread_times(pid).values())
            except Failure:
                continue  # it has just ended
        return {"host": host, "capture": captures}

    def close(self):
        if self.share:
            self.share.stop()
        for one in (self.shown, self.display):
            if one:
                one.close()


def busy_time():
    """Seconds that this machine's processors have worked, and all seconds, both of all processors since it started."""
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    # The fourth and fifth are those without work.
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def busy_share(before, after=None):
    """The part of their time that the processors worked between two answers of `busy_time`, by default until now."""
    worked, all_time = (now - then for now, then in zip(after or busy_time(), before))
    return worked / max(1, all_time)


def children(pid):
    """The processes that a process has started and that still run."""
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def estimate(document, address):
    """The host's estimate for the viewer at this address, in bits a second; None if the document tells none.

    Looks for an object that has the address in one of its fields, and a number whose name begins with "estimate".
    """
    if isinstance(document, dict):
        if any(isinstance(value, str) and address in value for value in document.values()):
            for key, value in document.items():
                if key.lower().startswith("estimate") and isinstance(value, (int, float)):
                    return value
        parts = document.values()
    elif isinstance(document, list):
        parts = document
    else:
        return None
    for part in parts:
        found = estimate(part, address)
        if found is not None:
            return found
    return None
