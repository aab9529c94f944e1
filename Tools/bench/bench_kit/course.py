"""What measuring a course needs, whatever its kind: the namespaces, the paths, the room and its viewers."""

import time

from .namespaces import HostNetwork, Path
from .processes import now_ns
from .room import Room, busy_share, busy_time, estimate
from .started import Started
from .viewer import Viewer

#: Where there are more viewers than this, all but the first of each kind are light, and no whole pictures of them are
#: kept: two processors could not draw the pictures of all.
ALL_DRAW = 4


class Stage(Started):
    """Everything that a run of a course has started; ends all of it in the opposite order."""

    def __init__(self, bench, course, folder, seed):
        super().__init__()
        self.bench, self.course, self.folder, self.seed = bench, course, folder, seed
        self.viewers, self.paths, self.samples = [], [], []

    def make_paths(self, count, is_equal=False):
        """With `is_equal`, chance does the same on all paths: it loses the same of their packets."""
        self.network = self.add(HostNetwork(self.folder))
        for number in range(1, count + 1):
            self.paths.append(self.add(
                Path(self.network, number, self.seed + (0 if is_equal else 2 * number), self.folder)))

    def make_room(self, scene, ticks, has_moved=False, share_options=(), display_options=()):
        self.room = self.add(Room(
            self.bench, scene, ticks, self.network, self.folder, self.course.bit_rate, has_moved,
            display_options=display_options, share_options=share_options))

    def make_viewers(self):
        """The narrow viewers, each on a path as in the first phase, then the clean ones, until all play."""
        course = self.course
        for number, path in enumerate(self.paths):
            is_narrow = number < course.narrow_viewers
            phase = course.narrow[0] if is_narrow else course.clean
            path.change(now_ns() / 1e9, "before", phase.down, phase.up)
            place = number if is_narrow else number - course.narrow_viewers
            is_crowd = len(self.paths) > ALL_DRAW
            viewer = self.add(Viewer("%s-%d" % ("narrow" if is_narrow else "clean", place + 1), path, self.folder,
                            is_light=is_crowd and place > 0, is_small=is_crowd))
            viewer.open(self.room.link(path.host_address))
            viewer.wait_until_playing()
            self.viewers.append(viewer)

    def follow(self, until):
        """Fetches what the pages and the host tell, once a second until then."""
        while time.monotonic() < until:
            time.sleep(max(0.0, min(1.0, until - time.monotonic())))
            for viewer in self.viewers:
                viewer.take()
            self.look_at_host()

    def look_at_host(self):
        self.room.share.require_running()
        now, status = now_ns() / 1e9, self.room.ask("status")
        self.samples.append({"time": now, "status": status, "busy": busy_time(), **self.room.processor_times()})
        documents = [status, self.room.ask("rooms")]
        for viewer in self.viewers:
            value = estimate(documents, viewer.path.viewer_address)
            if value is not None:
                viewer.host_estimates.append((now, value))

    def busy(self):
        """Which part of their time this machine's processors worked."""
        return busy_share(self.samples[0]["busy"], self.samples[-1]["busy"])

    def host_figures(self, start, end):
        """Processor time in ms a second, and what capture encoded, between the looks nearest to these times."""
        if len(self.samples) < 2:
            return {}
        first, last = (min(self.samples, key=lambda one: abs(one["time"] - time)) for time in (start, end))
        seconds = last["time"] - first["time"]
        if seconds <= 0:
            return {}
        figures = {"%s_cpu" % name: (last[name] - first[name]) / 1e6 / seconds for name in ("host", "capture")}
        captures = [(one["status"] or {}).get("capture") or {} for one in (first, last)]
        # Capture tells these about once a second, so they may be a second off.
        for name, key in (("captured", "pictures"), ("capture_key_frames", "idrPictures"), ("captured_bytes", "bytes")):
            if all(key in one for one in captures):
                figures[name] = captures[1][key] - captures[0][key]
        return figures
