"""The share of a Wayland desktop, whose framebuffer can't be read, and what its compositor itself takes."""

from bench_kit import pictures
from bench_kit.counts import painted_first
from bench_kit.desktop import WaylandDesktop
from bench_kit.limits import at_most
from bench_kit.link import LinkPictures
from bench_kit.processes import Failure
from bench_kit.recorded import connections
from bench_kit.room import Room
from capture_bench.casts import Receiver
from capture_bench.limits import ABOVE_X11

from .figures import spread

COLUMNS = ["scene", "X11 p50 ms", "p95 ms", "Wayland p50 ms", "p95 ms", "a bare receiver p50 ms", "p95 ms",
           "above X11 without a bare receiver's p50: p50 ms", "p95 ms", "from the client p50 ms"]


class WaylandRoom(Room):
    """A scene that is shown on a Wayland desktop, and `screenrelay share`, which captures it through the portal."""

    display_type = WaylandDesktop

    def start_share(self, bench, network, bit_rate):
        # Its bus, its PipeWire and its compositor are found by these.
        self.environment = self.display.environment
        super().start_share(bench, network, bit_rate)

    def beside(self, scene, folder):
        """A receiver that does nothing with the pictures of the same screen cast."""
        receiver = Receiver()
        receiver.start(self.display, scene.size, folder)
        return receiver


def painted_times(recording, size, drawn):
    """When the compositor painted each count first, by the count, in seconds; of those that were captured.

    A recording of the capture link has the pictures, in which the counter is read, and how long before its capture the
    compositor painted each. `drawn` is when the client handed each count over.
    """
    found = connections(recording)
    if len(found) != 1:
        raise Failure("the recording of the share has %d connections instead of one" % len(found))
    link = LinkPictures()
    for message in found[0]:
        link.take_message(message.data, message.arrival)
    path = recording + ".264"
    with open(path, "wb") as file:
        file.write(link.stream)
    counts = [pictures.counter(luma) for luma in pictures.decode(path, size)]
    # Pictures are told apart by their place in the stream: one that is missing would shift all others.
    if len(counts) < len(link.pictures):
        raise Failure("%d of %d pictures of the recording were decoded" % (len(counts), len(link.pictures)))
    return painted_first([(count, None if one.painted is None else one.painted / 1e9)
                          for count, one in zip(counts, link.pictures)], drawn)


def bare(receiver, start, seconds):
    """How long the compositor took from painting its pictures to handing them over, in these seconds."""
    delays = receiver.delays(start * 1e9, (start + seconds) * 1e9)
    return {"bare_" + key: value for key, value in spread(delays, seconds).items()}


def above_x11(x11, wayland, key):
    """How much later than on X11 a picture is shown. The time that the compositor takes from painting a picture to
    handing it to any receiver isn't counted; it is the median's at p95 too."""
    return wayland[key] - wayland["bare_p50_ms"] - x11[key]


def row(name, x11, wayland):
    figures = [x11["p50_ms"], x11["p95_ms"], wayland["p50_ms"], wayland["p95_ms"], wayland["bare_p50_ms"],
               wayland["bare_p95_ms"], *(above_x11(x11, wayland, key) for key in ("p50_ms", "p95_ms")),
               wayland["client_p50_ms"]]
    return [name, *("%.1f" % one for one in figures)]


def check(name, x11, wayland):
    return at_most("%s: painting to the browser on Wayland at p50, without a bare receiver's, above X11's" % name,
                   above_x11(x11, wayland, "p50_ms"), ABOVE_X11, "ms")
