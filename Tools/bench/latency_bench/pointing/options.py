"""The command line."""

from bench_kit import options as of

from .figures import places

SCENES = ["idle", "typing", "scroll", "full"]
PARTS = ["delay", "cost"]


def parse(arguments):
    parser = of.Parser(
        "latency pointing", """
        Measures a viewer that points, in headless Chromium, at a screen that is shared from Xvfb over loopback, without
        a compositing manager. Writes pointing.json, and prints the tables.

        delay: from just before DevTools gets the pointer's event until the overlay's pixel has the viewer's colour in
        the framebuffer of the sharer's X server, read from memory twice per millisecond on one clock. The laser's pixel
        is the middle of its dot; the pen's is the middle of a line of 40 pixels, drawn by one event. The delay from the
        event's own timeStamp is beside it.

        cost: CPU time per second without pointing, and while the pointer moves 60 times per second, of which the page
        sends 30 places. screenrelay-capture also draws the overlay, so its CPU time contains that. The frames that it
        encodes are counted too, and must not become more. Each phase is from one report of the capture to another, so
        that the count is exact. The scene repaints what a dot uncovers, as programs have to.""", [
            of.names("--parts", PARTS, "which"),
            of.names("--scenes", SCENES, "what is shared; only the default ones have limits", "idle,typing"),
            of.number("--dots", 60, 50, 500, "N", "places at which the laser points, and lines of the pen"),
            of.seconds(15, 5, 120, "length of each phase of cost"), of.runs(2), of.size(), of.bit_rate(), of.SHARE,
            of.seed("of the places' order"), of.out("pointing"), of.CHECK, of.programs(), of.KEEP],
        examples=[("--check", "all of it, about 8 minutes"), ("--parts delay --runs 1", "only the delay, 2 minutes"),
                  ("--parts cost --scenes idle", "one scene")])
    options = parser.parse_args(arguments)
    if places(options.size, options.dots, options.seed) is None:
        parser.error("--size %dx%d: too small for %d dots" % (*options.size, options.dots))
    return options
