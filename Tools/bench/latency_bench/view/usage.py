"""CPU time and memory of a program and all that it has started."""

import dataclasses
import os

from bench_kit.processes import Failure


@dataclasses.dataclass
class Stat:
    """A line of /proc/PID/stat (proc_pid_stat(5))."""
    parent: int
    session: int
    #: Of all its threads and of the children that it has waited for, also of those that have ended.
    ticks: int

    @classmethod
    def parse(cls, line):
        # The name, in parentheses, may contain any character.
        words = line.rsplit(")", 1)[1].split()
        return cls(int(words[1]), int(words[3]), sum(int(word) for word in words[11:15]))


def members(root, stats):
    """The numbers of `root`, its descendants and the members of its session, by the Stat of each process."""
    def belongs(pid):
        seen = set()
        while pid in stats and pid not in seen:
            if pid == root or stats[pid].session == root:
                return True
            seen.add(pid)
            pid = stats[pid].parent
        return False

    return {pid for pid in stats if belongs(pid)}


def usage(root):
    """Seconds of CPU time so far, and the proportional set size in KiB, of a process and all that it has started."""
    stats = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as file:
                    stats[int(name)] = Stat.parse(file.read())
            except OSError:
                continue  # it has just ended
    found = members(root, stats)
    if root not in found:
        raise Failure("process %d is gone" % root)
    ticks = sum(stats[pid].ticks for pid in found)
    return {"cpu": ticks / os.sysconf("SC_CLK_TCK"), "memory": sum(_proportional(pid) for pid in found)}


def _proportional(pid):
    """The process's memory in KiB, of which a page that n processes share counts one n-th."""
    try:
        with open("/proc/%d/smaps_rollup" % pid) as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1])
    except OSError:
        pass  # it has just ended
    return 0
