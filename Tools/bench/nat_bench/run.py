"""One run: a host and a viewer behind their NATs, from opening the page until its path has stood for some seconds."""

import contextlib
import time

from capture_bench.processes import Failure
from network_bench.room import Room
from network_bench.viewer import Viewer

from .coturn import NATCheck, TURNServer
from .network import HOST, HOST_ROUTER, VIEWER, Network

BIT_RATE = 4_000_000
#: Seconds until a page that shows nothing is given up.
TIMEOUT = 30
#: Seconds after the first picture. A page may change to a better path meanwhile; what it uses then is what counts.
SETTLING = 5
#: Seconds that the scene moves: longer than all of that.
SCENE = 60

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
    with contextlib.ExitStack() as stage:
        def add(one):
            stage.callback(one.close)
            return one

        network = add(Network(course.host_nat, course.viewer_nat, course.has_udp, folder))
        server = add(TURNServer(network.public, folder))
        if checks_nats:
            _check_nats(network, course, folder)
        scene = bench.scene("typing")
        room = add(Room(bench, scene, scene.ticks(SCENE), network.host, folder, BIT_RATE,
                        share_options=server.share_options))
        viewer = add(Viewer("viewer", network.viewer, folder, is_light=False, is_small=True))
        room.shown.start()
        viewer.open(room.link(HOST_ROUTER))
        try:
            return _follow(room, viewer.page)
        finally:
            bench.keep(folder, "viewer", viewer.page.evaluate("networkBench.take()"))


def _check_nats(network, course, folder):
    with contextlib.ExitStack() as stage:
        found = []
        for namespace, address, nat in ((network.host, HOST, course.host_nat),
                                        (network.viewer, VIEWER, course.viewer_nat if course.has_udp else None)):
            found.append(NATCheck(namespace, address, nat, folder))
            stage.callback(found[-1].close)
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
