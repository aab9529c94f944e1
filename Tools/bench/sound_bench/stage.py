"""Everything that a measurement starts: the sound server, the share, and who listens to it."""

import os

from bench_kit.processes import wait_until
from bench_kit.room import Room, busy_share, busy_time, children
from bench_kit.started import Started

from .pulse import PulseServer
from .viewer import Viewer

BIT_RATE = 4_000_000
SOUND = ["--sound", "desktop"]
PROGRAM = b"screenrelay-sound"


class Stage(Started):
    """Ends all that it has started in the opposite order."""

    def __init__(self, bench, folder, scene="idle", ticks=1, has_sound=True, network=None,
                 has_speaker=False, suspends=True):
        super().__init__()
        self.bench, self.folder = bench, folder
        try:
            self.pulse = self.add(PulseServer(folder, has_speaker, suspends))
            self.room = self.add(Room(
                bench, bench.scene(scene), ticks, network, folder, BIT_RATE, share_options=SOUND if has_sound else (),
                environment={"PULSE_SERVER": self.pulse.environment["PULSE_SERVER"]}))
        except BaseException:
            self.close()
            raise
        self.begin_account()

    def add_viewer(self, path=None):
        """A viewer at the far end of a path, or on this machine; the page's sound is off."""
        link = self.room.link(path.host_address) if path else self.room.printed_link
        return self.add(Viewer(link, self.folder, path.prefix if path else ()))

    def sound_pid(self):
        """The capture of sound; None if none runs."""
        for pid in children(self.room.share.pid):
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    name = file.read().split(b"\0")[0]
            except OSError:
                continue  # it has just ended
            if os.path.basename(name) == PROGRAM:
                return pid
        return None

    def wait_for_packets(self, viewer, seconds=20):
        """Waits until packets of sound come to the viewer."""
        before = viewer.sound().get("packetsReceived", 0)
        wait_until(lambda: viewer.has_sound(before + 10), seconds, "that packets of sound come to the page")

    def begin_account(self):
        self._busy = busy_time()

    def busy(self):
        """Which part of their time this machine's processors worked since `begin_account`."""
        return busy_share(self._busy)
