"""The command line."""

from bench_kit import options as of

from . import courses, nats, proxies


def parse(arguments):
    return of.Parser(
        "reach", """
        Measures what viewers see of a shared screen through difficult networks, in headless Chromium and Firefox. The
        host and each viewer are in network namespaces of their own, as for Tools/bench/network, whose paths and figures
        these are: delays are from the scene's tick to the page's presentation of its frame. What doesn't get through
        is dropped by nftables. Proxies are configured as in Documentation/operating.md, with a self-signed certificate
        that the browsers are told to accept. Writes reach.md and reach.json, and prints the tables.""", [
            of.parts("courses", courses.ALL),
            of.names("--proxies", proxies.ALL, "proxy: which"),
            of.names("--viewers", courses.VISITORS, "proxy: which", "chromium-https,chromium-http,firefox-https"),
            of.names("--browsers", courses.BROWSERS, "blocked, direct: which"),
            of.names("--nats", list(nats.ALL), "nat: which"),
            of.seconds(10, 1, 600, "how long a scene counts on the clean path; twice as long on the narrow one"),
            of.number("--lead", 3, 1.0, 600, "S", "how long the scene moves before that"),
            of.runs(3), of.RTT, of.number("--queue", 300, 1.0, 60_000, "MS", "the longest wait in the narrow hop"),
            of.bit_rate(), of.SHARE, of.size(), of.seed("of the paths"), of.out("reach"), of.CHECK,
            of.flag("--list", "print what would be measured, and how long it takes"), of.programs(), of.KEEP],
        notes="courses:\n" + "".join("  %-8s %s\n" % (name, one[0]) for name, one in courses.ALL.items())
        + "\nnats, and the path that the video has to take:\n"
        + "".join("  %-16s %s\n" % (one.name, one.expected) for one in nats.ALL.values()) + """
A preserving NAT keeps the source port for all destinations, a random one uses another for each; both accept packets
only from an address and port to which packets were sent. no-udp: both are preserving, and no UDP passes the viewer's
router. nat has neither a proxy nor an emulated path. Its limits: that path, and a frame within %g s, in each run.

Debian's Firefox has no OpenH264 plug-in, so that it plays no H.264 over WebRTC. MOZ_GMP_PATH in the environment, a
folder gmp-gmpopenh264/VERSION as a profile of Mozilla's Firefox has one, gives it that.""" % nats.FIRST_PICTURE,
        examples=[("--check --runs 1", "about ten minutes"),
                  "proxy --proxies nginx --viewers firefox-https --runs 1"],
        codes=of.NEEDS_ROOT).parse_args(arguments)
