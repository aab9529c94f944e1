"""A share that is pushed to a tree of servers, of which some are killed.

What is pushed to is a Janus (alone), and simple-whip-server in front of another Janus (whip), whose publisher a third
Janus (third) shows as a remote publisher. Viewers join at each.
"""

import os
import statistics
import subprocess
import time

from bench_kit import janus
from bench_kit.limits import Check, at_most
from bench_kit.processes import own_settings, sleep_until, wait_until
from bench_kit.pushing import pushes, share
from bench_kit.report import table
from bench_kit.started import Started

from . import tree_servers
from .tree_servers import START, Server, WHIPServer, cascade

missing = tree_servers.missing

SIZE = (1280, 720)
#: Milliseconds from being connected to a frame, at most.
LIMIT = 500
#: Seconds for which a server is away, and until its death and its return must have been noticed.
AWAY, NOTICED, RETURN = 3, 10, 60
#: Seconds that a viewer may take to join, besides the time between two joins.
JOIN = 20


class Tree(Started):
    """The servers and the share; `steps` are what was measured, in order."""

    def __init__(self, bench, folder):
        super().__init__()
        self.bench, self.steps = bench, []
        try:
            self.alone, self.whip, self.third = (self.add(Server(name, folder)) for name in ("alone", "whip", "third"))
            front = self.add(WHIPServer(self.whip, folder))
            words = ["--push-tries", "3"]
            for url in (self.alone.janus.push(), front.push):
                words += ["--push", url, "--preset", "only=pictures"]
            options = bench.options
            seconds = 2 * (AWAY + NOTICED + RETURN) + 6 * options.viewers * (options.apart + JOIN)
            self.room = self.add(share(bench, words, bench.scene("scroll"), seconds, folder, None,
                                        address=janus.own_address()))
            self.room.shown.start()
            for number in (1, 2):
                self.wait_until_connected(number)
            cascade(self.whip, self.third)
        except BaseException:
            self.close()
            raise

    def wait_until_connected(self, number):
        def is_connected():
            self.room.share.require_running()
            return any(one["id"] == number and one["state"] == "connected" for one in pushes(self.room))

        wait_until(is_connected, RETURN, "the connection of push %d" % number)

    def line(self, number):
        """What the status says to people about a push that isn't connected; None if it says nothing of the kind."""
        self.room.share.require_running()
        result = subprocess.run(
            [self.bench.program("screenrelay"), "status", "--pid", str(self.room.share.pid)], timeout=20,
            env={**os.environ, **own_settings(self.room.folder)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        begin = "push %d " % number
        parts = [part for line in result.stdout.decode(errors="replace").splitlines() for part in line.split("; ")]
        return next((part for part in parts if part.startswith(begin) and not part.endswith(": connected")), None)

    def note(self, server, what, value, **more):
        self.steps.append({"server": server.name, "what": what, "value": value, **more})
        self.bench.say("%s: %s: %s" % (server.name, what, value))

    def join(self, server):
        found = []
        for _ in range(self.bench.options.viewers):
            found.append(server.join())
            # Not a wait for anything: they are so far apart.
            time.sleep(self.bench.options.apart)
        self.note(server, "%d viewers, a frame after being connected" % len(found), "%s ms; median %.0f, at most %.0f" % (
            ", ".join("%.0f" % one for one in found), statistics.median(found), max(found)), first_ms=found)

    def outage(self, number, server, behind, others):
        """`behind` gets its frames from `server`, and `others` don't."""
        before = [one.look() for one in others]
        server.janus.kill()
        killed, lines = time.monotonic(), []

        def is_told():
            lines.append(self.line(number))
            return lines[-1] is not None

        wait_until(is_told, NOTICED, "a status that names the killed server")
        self.note(server, "killed; the status names it", "%.1f s later: %s" % (time.monotonic() - killed, lines[-1]))
        for one in (server, *behind):
            one.send_viewers_away()
        # Not a wait for anything: it is away for so long.
        sleep_until(killed + AWAY)
        server.janus.start()
        ready = server.janus.wait_until_ready(START)
        self.wait_until_connected(number)
        self.note(server, "the push is connected again after the server could be reached",
                  "%.1f s" % (time.monotonic() - ready))
        for one, (frames, lost_before) in zip(others, before):
            now, lost = one.look()
            new = [after - then for then, after in zip(frames, now)]
            self.note(one, "meanwhile", "%d to %d frames for each viewer, %d packets missing" % (
                min(new), max(new), lost - lost_before), new=new, lost=lost - lost_before)
        if behind:
            cascade(server, behind[0])
        for one in (server, *behind):
            self.join(one)


def measure(bench, folder):
    with Tree(bench, folder) as tree:
        for server in (tree.alone, tree.whip, tree.third):
            tree.join(server)
        tree.outage(1, tree.alone, [], [tree.whip, tree.third])
        tree.outage(2, tree.whip, [tree.third], [tree.alone])
        return {"steps": tree.steps}


def tell(runs):
    return table(["server", "what", "measured"], [[step["server"], step["what"], step["value"]]
                                                  for run in runs for step in run["steps"]])


def checks(runs):
    found = []
    for step in (step for run in runs for step in run["steps"]):
        what = "tree, %s, %s" % (step["server"], step["what"])
        if "first_ms" in step:
            found.append(at_most(what, max(step["first_ms"]), LIMIT, "ms"))
        if "new" in step:
            # At each of the two looks, one viewer may have got frames of 0.1 s that are still on their way to another.
            new = step["new"]
            found.append(Check(what, step["value"], "no packet missing, and frames for all",
                               step["lost"] == 0 and min(new) > 0 and max(new) - min(new) <= 6))
    return found
