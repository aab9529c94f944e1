"""Through NATs: a host and a viewer behind theirs, from opening the page until its path has stood for some seconds."""

import dataclasses
import statistics
import time

from bench_kit.limits import Check, at_most
from bench_kit.processes import Failure
from bench_kit.report import table
from bench_kit.room import Room
from bench_kit.started import Started
from bench_kit.viewer import Viewer

from .coturn import NATCheck, TURNServer
from .routers import HOST, HOST_ROUTER, VIEWER, Network

#: Seconds from opening the page to its first picture.
FIRST_PICTURE = 10
#: Seconds until a page that shows nothing is given up.
TIMEOUT = 30
#: Seconds after the first picture. A page may change to a better path meanwhile; what it uses then is what counts.
SETTLING = 5
#: Seconds that the scene moves: longer than all of that.
SCENE = 60


@dataclasses.dataclass(frozen=True)
class Course:
    name: str
    host_nat: str
    viewer_nat: str
    #: Whether any UDP passes the viewer's router.
    has_udp: bool
    #: The way by which the pictures have to come: "direct" or "relay".
    expected: str
    #: How the viewer has to reach the relay; None if there is none, or it doesn't matter.
    relay_protocol: str = None

    #: Seconds of a run, about.
    seconds = 20

    @property
    def title(self):
        return "nat, %s: NAT of the host %s, of the viewer %s%s" % (
            self.name, self.host_nat, self.viewer_nat, "" if self.has_udp else ", no UDP at the viewer")


#: A NAT that gives every destination the port that another one was told can be opened by the host's own packets. If one
#: of the two gives another port, nobody knows which: both let in only what comes from the very port they sent to.
ALL = {one.name: one for one in [
    Course("both-preserving", "preserving", "preserving", True, "direct"),
    Course("viewer-random", "preserving", "random", True, "relay", "udp"),
    Course("host-random", "random", "preserving", True, "relay", "udp"),
    Course("both-random", "random", "random", True, "relay", "udp"),
    Course("no-udp", "preserving", "preserving", False, "relay", "tcp"),
]}


def checks(course, runs):
    """The checks of one course: each of its runs has to keep the limits."""
    ways = [run["way"] for run in runs]
    times = [run["first_picture_s"] for run in runs]
    found = [_same("%s: way" % course.name, ways, course.expected)]
    if course.relay_protocol:
        found.append(_same("%s: protocol to the relay" % course.name, [run["relay_protocol"] for run in runs],
                          course.relay_protocol))
    what, unit = "%s: first picture" % course.name, "s"
    found.append(Check(what, "never", "at most %g s" % FIRST_PICTURE, False) if None in times else at_most(
        what, max(times), FIRST_PICTURE, unit))
    return found


def _same(what, values, wanted):
    """A check that all values are the wanted one."""
    shown = ", ".join(dict.fromkeys(str(value) for value in values))
    return Check(what, shown, wanted, set(values) == {wanted})


_COLUMNS = ["course", "host's NAT", "viewer's NAT", "way", "pair: viewer, host", "protocol",
            "first picture s (longest)", "the page's panel", "the host sends to"]

_NOTE = (
    "First picture: from the start of navigation, the median and the longest of the runs. Pair: the types of the two "
    "candidates that the page's getStats names %g s after the first picture. Protocol: that of the viewer's packets; "
    "for a relay, that to the relay. Before a course's first run, coturn's turnutils_natdiscovery has found both NATs "
    "to be as named.")


def lines(measured):
    """The table of the courses with their runs."""
    return ["", "## nat", "", _NOTE % SETTLING, "", *table(_COLUMNS, [_row(course, runs) for course, runs in measured])]


def _row(course, runs):
    times = [run["first_picture_s"] for run in runs if run["first_picture_s"] is not None]
    return [course.name, course.host_nat, course.viewer_nat + ("" if course.has_udp else ", no UDP"),
            _shown(runs, lambda run: run["way"]),
            _shown(runs, lambda run: "%s, %s" % (run["local"], run["remote"]) if run["local"] else "–"),
            _shown(runs, lambda run: run["relay_protocol"] or run["protocol"] or "–"),
            "%.1f (%.1f)" % (statistics.median(times), max(times)) if len(times) == len(runs) else "never",
            _shown(runs, lambda run: run["panel"][0] if run["panel"] else "–"), _shown(runs, _destination)]


def _destination(run):
    host = run["host_says"]
    return "%s, %s" % (host["address"], host["transport"]) if host else "–"


def _shown(runs, tell):
    """What all runs have in common, or each of the things that differ."""
    return "; ".join(dict.fromkeys(tell(run) for run in runs))


#: Opens the panel that names the path, and gives its lines once it has any: the path, then what there is to say of it.
_PANEL = """(async () => {
  const parts = () => [...document.querySelectorAll("#charts-list .paths :is(p > span:last-child, .chart-note)")];
  if (document.getElementById("charts").hidden) document.getElementById("figures").click();
  for (const until = performance.now() + 5000; performance.now() < until && parts().length === 0;) {
    await new Promise((go) => setTimeout(go, 100));
  }
  return parts().map(({ textContent }) => textContent);
})()"""


def measure(bench, course, folder, checks_nats):
    """`checks_nats`: whether to find out first what the NATs do, which takes 6 s."""
    with Started() as stage:
        network = stage.add(Network(course.host_nat, course.viewer_nat, course.has_udp, folder))
        server = stage.add(TURNServer(network.public, folder))
        if checks_nats:
            _check_nats(network, course, folder)
        scene = bench.scene("typing")
        room = stage.add(Room(bench, scene, scene.ticks(SCENE), network.host, folder, bench.options.bit_rate,
                        share_options=server.share_options))
        viewer = stage.add(Viewer("viewer", network.viewer, folder, is_light=False, is_small=True))
        room.shown.start()
        viewer.open(room.link(HOST_ROUTER))
        try:
            return _follow(room, viewer.page)
        finally:
            bench.keep(folder, "viewer", viewer.page.evaluate("networkBench.take()"))


def _check_nats(network, course, folder):
    with Started() as stage:
        found = []
        for namespace, address, nat in ((network.host, HOST, course.host_nat),
                                        (network.viewer, VIEWER, course.viewer_nat if course.has_udp else None)):
            found.append(stage.add(NATCheck(namespace, address, nat, folder)))
        for one in found:
            one.finish()


def _follow(room, page):
    shown = _wait_for_picture(room, page)
    run = {"first_picture_s": None, "way": "none", "local": None, "remote": None, "protocol": None,
           "relay_protocol": None, "panel": [], "host_says": None, "pictures": 0}
    if shown is None:
        return run
    run["first_picture_s"] = shown / 1000
    time.sleep(SETTLING)
    before = page.evaluate("screenRelay.framesDecoded")
    run["panel"] = page.evaluate(_PANEL)
    run["host_says"] = _path_by_host(room)
    time.sleep(1)
    run["pictures"] = page.evaluate("screenRelay.framesDecoded") - before
    if run["pictures"] <= 0:
        raise Failure("the page showed a picture, and no other one after it")
    if page.evaluate("screenRelay.isByWebSocket"):
        return dict(run, way="WebSocket")
    pair = page.evaluate("networkBench.pair()")
    if pair is None:
        raise Failure("the page shows pictures without a connection")
    ends = [pair[name] for name in ("local", "remote")]
    types = [end["candidateType"] for end in ends]
    return dict(run, way="relay" if "relay" in types else "direct", local=types[0], remote=types[1],
                protocol=ends[0]["protocol"], relay_protocol=ends[0].get("relayProtocol"),
                addresses=["%s:%s" % (end.get("address"), end.get("port")) for end in ends])


def _wait_for_picture(room, page):
    """Milliseconds from the start of navigation to the first picture; None if there is none."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        room.share.require_running()
        shown = page.evaluate("window.screenRelay?.phase === 'playing' ? networkBench.firstShown : null")
        if shown is not None:
            return shown
        time.sleep(0.1)
    return None


def _path_by_host(room):
    """Where the host says that the pictures go, and how; also what `screenrelay status --json` counts."""
    rooms, status = room.ask("rooms") or {}, room.ask("status") or {}
    paths = [path for one in rooms.get("rooms", []) for member in one["members"] for path in member.get("paths") or []]
    if len(paths) != 1:
        raise Failure("the host tells of %d paths to viewers" % len(paths))
    return {"transport": paths[0].get("transport"), "address": paths[0].get("address"),
            "viewers": status.get("viewers"), "tcpViewers": status.get("tcpViewers")}
