"""The network: a host and a viewer, each behind a router that translates addresses, and a public net between them.

    host ─────────── router ─────────── public net ─────────── router ─────────── viewer
    10.10.0.2     198.51.100.2          192.0.2.1 (TURN)     203.0.113.2    192.168.20.2

Each of the five is a network namespace; the lines are pairs of virtual Ethernet devices.
"""

import os

from bench_kit.namespaces import Namespace
from bench_kit.room import PORT
from bench_kit.started import Started

HOST, HOST_ROUTER = "10.10.0.2", "198.51.100.2"
VIEWER, VIEWER_ROUTER = "192.168.20.2", "203.0.113.2"
#: The TURN server's addresses; by the second one it finds out what NATs do (RFC 5780).
SERVER, OTHER_SERVER = "192.0.2.1", "192.0.2.2"

#: What a router writes instead of a source port: the port itself if it is free, whatever the destination, or another
#: one for each destination.
NATS = {"preserving": "masquerade", "random": "masquerade random,fully-random"}

#: A router at home: it lets connections out, and nothing in but what belongs to them and the port that it forwards.
#: What is for nobody it drops before it is noted in the table of connections: there it would take the port from the
#: connection that the host opens a moment later.
_ROUTER = """
table ip router {
    chain input {
        type filter hook input priority filter; policy drop;
        ct state established,related accept
        iifname { "lan", "lo" } accept
    }
    chain forward {
        type filter hook forward priority filter; policy drop;
        ct state established,related accept
        iifname "lan" accept
        ct status dnat accept
    }
    chain destination {
        type nat hook prerouting priority dstnat;
        %(forwarded)s
    }
    chain source {
        type nat hook postrouting priority srcnat;
        oifname "wan" %(nat)s
    }
}
"""

#: No packet of UDP passes between the viewer's router and anybody.
_NO_UDP = """
table ip public {
    chain received {
        type filter hook prerouting priority filter;
        iifname "viewer" meta l4proto udp drop
    }
    chain sent {
        type filter hook postrouting priority filter;
        oifname "viewer" meta l4proto udp drop
    }
}
"""


class Network(Started):
    """The five namespaces; `close` removes them."""

    def __init__(self, host_nat, viewer_nat, has_udp, folder):
        super().__init__()
        try:
            self.host, self.viewer, self.public = (
                self._namespace(name, folder) for name in ("host", "viewer", "public"))
            forwarded = 'iifname "wan" tcp dport %d dnat to %s:%d' % (PORT, HOST, PORT)
            self._router("host", self.host, HOST, HOST_ROUTER, NATS[host_nat], forwarded, folder)
            self._router("viewer", self.viewer, VIEWER, VIEWER_ROUTER, NATS[viewer_nat], "", folder)
            for address in (SERVER, OTHER_SERVER):
                self.public.run("ip", "address", "add", address + "/32", "dev", "lo")
            # Whatever else there is in the world takes packets and doesn't answer. Without a route, a packet for the
            # host's private address couldn't be sent, and coturn ends a relay whose packet can't be sent.
            self.public.run("ip", "route", "add", "default", "dev", "lo")
            _forward(self.public)
            if not has_udp:
                self.public.run("nft", "-f", "-", text=_NO_UDP)
        except BaseException:
            self.close()
            raise

    def _namespace(self, name, folder):
        return self.add(Namespace("the network of " + name, os.path.join(folder, name + "-network.log")))

    def _router(self, name, inside, inner, outer, nat, forwarded, folder):
        """A router between the namespace `inside` and the public net; `inner` is the address behind it."""
        router = self._namespace(name + "-router", folder)
        gateway, provider = (address.rsplit(".", 1)[0] + ".1" for address in (inner, outer))
        _join(inside, "eth0", inner, router, "lan", gateway)
        _join(router, "wan", outer, self.public, name, provider)
        for namespace, way in ((inside, gateway), (router, provider)):
            namespace.run("ip", "route", "add", "default", "via", way)
        router.run("nft", "-f", "-", text=_ROUTER % {"nat": nat, "forwarded": forwarded})
        _forward(router)


def _join(one, device, address, other, other_device, other_address):
    """Joins two namespaces by a pair of devices."""
    one.run("ip", "link", "add", device, "type", "veth", "peer", "name", other_device, "netns", str(other.process.pid))
    for namespace, name, its_address in ((one, device, address), (other, other_device, other_address)):
        namespace.run("ip", "address", "add", its_address + "/24", "dev", name)
        namespace.run("ip", "link", "set", name, "up")


def _forward(namespace):
    namespace.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
