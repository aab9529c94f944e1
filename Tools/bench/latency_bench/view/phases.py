"""What the paths of both viewers do, phase by phase."""

from bench_kit.path import settings
from network_bench.scenarios import Course, Phase


def course(options):
    """No loss, then each loss, then the link that becomes narrow and wide again."""
    def phase(name, **down):
        half = {"delay": options.round_trip / 2}
        return Phase(name, options.seconds, settings(**half, **down), settings(**half))

    def link(kilobits, words=""):
        return phase("%g kbit/s%s" % (kilobits, words), rate=kilobits * 1000, queue=options.queue)

    phases = [phase("no loss"), *(phase("%g %% loss" % percent, loss=percent / 100) for percent in options.losses),
              link(options.high), link(options.low, " meanwhile" if options.low == options.high else ""),
              link(options.high, " again")]
    return Course("view", "view beside Chromium", "motion", options.scene, phases, 2, 0, phases[0], options.bit_rate)


def at_server(options, title):
    """One phase at a server of others, where nothing is between it and the viewers."""
    phase = Phase("at %s" % title, options.seconds, settings(), settings())
    return Course("view", "view beside Chromium at %s" % title, "motion", options.scene, [phase], 2, 0, phase,
                  options.bit_rate)
