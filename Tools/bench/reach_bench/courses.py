"""What lies between the host and a viewer, and what is shown there."""

import dataclasses

from bench_kit.course import Stage
from bench_kit.path import settings
from bench_kit.processes import now_ns
from bench_kit.room import PORT
from network_bench.scenarios import Course, Phase

from . import firewall, nats, proxies
from .visitor import Visitor

CLEAN, NARROW = "clean", "1 Mbit/s"
NARROW_RATE = 1_000_000
#: What a viewer is called: the browser, and how it opens the page.
VISITORS = {
    "chromium-https": ("chromium", "https"), "chromium-http": ("chromium", "http"),
    "firefox-https": ("firefox", "https"), "firefox-http": ("firefox", "http")}
BROWSERS = ["chromium", "firefox"]


@dataclasses.dataclass
class Way:
    """How a viewer gets to the host."""
    course: str
    browser: str
    scheme: str = "http"
    proxy: str = None
    #: What the host's network lets in besides its own loopback, as an expression of nftables; None: everything.
    allows: str = None

    @property
    def title(self):
        return ", ".join(filter(None, [self.course, self.proxy, "%s by %s" % (self.browser, self.scheme)]))


def _phases(options, *rates):
    half = options.round_trip / 2
    up = settings(delay=half)
    found = []
    for rate in rates:
        name, more = (NARROW, {"rate": NARROW_RATE, "queue": options.queue}) if rate else (CLEAN, {})
        found.append(Phase(name, options.seconds * (2 if rate else 1), settings(delay=half, **more), up))
    return found


def _course(options, way, scene, *rates):
    phases = _phases(options, *rates)
    return Course(way.course, way.title, "motion", scene, phases, 1, 0, phases[0], options.bit_rate, {"way": way})


def _proxy(options):
    for proxy in options.proxies:
        for name in options.viewers:
            browser, scheme = VISITORS[name]
            way = Way("proxy", browser, scheme, proxy, "tcp dport %d" % proxies.PORTS[scheme])
            yield _course(options, way, "typing", None)
            yield _course(options, way, "scroll", None, NARROW_RATE)


def _blocked(options):
    for browser in options.browsers:
        yield _course(options, Way("blocked", browser, allows="meta l4proto tcp"), "scroll", None)


def _direct(options):
    for browser in options.browsers:
        yield _course(options, Way("direct", browser), "scroll", None)


def _nat(options):
    return [nats.ALL[name] for name in options.nats]


#: By name: what it shows, and the courses that it consists of.
ALL = {
    "proxy": ("only port 443 (or 80) of nginx or haproxy can be reached, by TCP", _proxy),
    "blocked": ("no UDP gets through, but TCP does", _blocked),
    "direct": ("everything gets through: what Firefox does otherwise than Chromium", _direct),
    "nat": ("host and Chromium are each behind a router that translates addresses, with coturn between them", _nat),
}


class ReachStage(Stage):
    """The host, perhaps with a proxy before it, and one viewer who reaches no more than the way allows."""

    @property
    def way(self):
        return self.course.facts["way"]

    @property
    def origin(self):
        address = self.paths[0].host_address
        return "%s://%s%s" % (self.way.scheme, address, "" if self.way.proxy else ":%d" % PORT)

    def make_room(self, scene, ticks, has_moved=False, share_options=()):
        proxy = self.way.proxy
        super().make_room(scene, ticks, has_moved, [*share_options, *([*proxies.SHARE, self.origin] if proxy else [])])
        if proxy:
            self.add(proxies.ALL[proxy](self.network, self.paths[0].host_address, self.folder))
        if self.way.allows:
            firewall.allow(self.network, self.way.allows)

    def make_viewers(self):
        path, phase = self.paths[0], self.course.narrow[0]
        path.change(now_ns() / 1e9, "before", phase.down, phase.up)
        visitor = self.add(Visitor(self.way.browser, path, self.folder))
        visitor.open("%s/#%s" % (self.origin, self.room.printed_link.split("#", 1)[1]))
        visitor.wait_until_playing()
        self.viewers.append(visitor)
