"""The viewers' emulated network paths: their option, the rendition that each viewer gets, and their table."""

import re
import threading

from bench_kit.processes import Failure, control_answer
from bench_kit.report import table

LINK = r"(loss=[0-9.]+%|rate=[0-9.]+[kMG]?)"
FATE = r"(stalled|gone)"
COMMON = re.compile("{0}(,{0})*".format(LINK))
OWN = re.compile("([0-9]+):({0}|{1})(,({0}|{1}))*".format(LINK, FATE))
COLUMNS = ["viewers", "path", "pictures per viewer and second: whole, broken",
           "packets per viewer and second: arrived, lost on the path", "repeated packets",
           "requests: packets, key frames", "at the low-rate rendition at the end",
           "changes of the rendition"]


def problem(paths, viewers):
    """What is wrong with these values of --path for these numbers of viewers; None if they are right."""
    for path in paths:
        if not COMMON.fullmatch(path) and not OWN.fullmatch(path):
            return "--path %s: write it like loss=5%%, rate=300k, 1:loss=10%%, 1:stalled or 1:gone" % path
    if own_count(paths) >= min(viewers):
        return "--viewers: there must be more than paths of their own (%d)" % own_count(paths)
    return None


def own_count(paths):
    """The number of viewers with a path of their own; they are the first ones."""
    return sum(int(found.group(1)) for found in map(OWN.fullmatch, paths) if found)


class Renditions(threading.Thread):
    """Which viewers get the low-rate rendition, as the host reports it once per second."""

    def __init__(self, host, paths, viewers):
        super().__init__(daemon=True)
        self.host, self.over, self.failure, self.low = host, threading.Event(), None, low_rate(host)
        self.changes = dict.fromkeys(self.low, 0)
        if len(self.low) != viewers:
            raise Failure("the host lists %d of %d viewers" % (len(self.low), viewers))
        # The host lists viewers in the order of their joins.
        members, own = list(self.low), own_count(paths)
        self.groups = [members[own:], *([member] for member in members[:own])]
        self.start()

    def run(self):
        while self.failure is None and not self.over.wait(1):
            self.look()

    def look(self):
        try:
            found = low_rate(self.host)
        except Failure as error:
            self.failure = error
            return
        for member in found.keys() & self.low.keys():
            self.changes[member] += found[member] != self.low[member]
            # A viewer whose session is over keeps its last rendition.
            self.low[member] = found[member]

    def finish(self):
        """The viewers at the low-rate rendition and the changes: of the rest, and of each with a path of its own."""
        self.over.set()
        self.join()
        self.look()
        if self.failure:
            raise self.failure
        return [{"low_rate": sum(self.low[one] for one in group), "changes": sum(self.changes[one] for one in group)}
                for group in self.groups]


def low_rate(host):
    """Whether each viewer gets the low-rate rendition, by its identifier, in the order of the joins."""
    rooms = control_answer(host.process.pid, host.folder, "rooms", 10)["rooms"]
    return {member["id"]: any(path["rung"] == "narrow" for path in member.get("paths") or [])
            for room in rooms for member in room["members"]}


def lines(rows):
    """A table with the viewers of each number, and with each that has a path of its own."""
    return table(COLUMNS, [cells(one, group, found) for one in rows
                           for group, found in zip([one, *one["odd"]], one["renditions"])])


def cells(row, group, rendition):
    share = 1 / row["seconds"] / max(1, group["joined"])
    return ["%d" % group["joined"], group["path"] or "none",
            "%.2f, %.2f" % (group["whole_pictures"] * share, group["broken_pictures"] * share),
            "%.1f, %.1f" % (group["packets"] * share, group["path_drops"] * share), "%d" % group["retransmissions"],
            "%d, %d" % (group["requests"], group["key_frame_requests"]), "%d" % rendition["low_rate"],
            "%d" % rendition["changes"]]
