"""Latency, bit rate, and how soon a picture is sharp."""

import statistics

from bench_kit import pictures
from bench_kit.analysis import share
from bench_kit.limits import Check, at_most
from bench_kit.processes import Failure
from bench_kit.report import Section

from .limits import LATENCY, RATE_SHARE, RATES, SETTLING, SHARP, SHARP_AFTER


def latency(bench):
    """From capture time (the end of settling) to the arrival of the picture's last NAL unit."""
    section = Section(
        "latency", "Latency",
        "Milliseconds from the end of settling to the arrival of the picture's last NAL unit at the receiver, product "
        "settings; medians over the runs of each run's value. Settling is what the capture process says of a picture.",
        ["scene", "pictures", "p50 ms", "p95 ms", "largest ms", "settling p50 ms", "settling largest ms"])
    bench.report.sections.append(section)
    for name, (limit50, limit95) in LATENCY.items():
        times, settling = [], []
        for _ in range(bench.options.runs):
            run = bench.record(bench.ours, bench.scene(name), bench.options.seconds)
            seen = [one for one in run.pictures_in_window() if one.damage[2] > 0 and not one.is_idr]
            bench.forget_run(run)
            if not seen:
                raise Failure("no picture of %s came" % name)
            times.append([(one.arrival - one.pts) / 1e6 for one in seen])
            settling += [one.settling_ns / 1e6 for one in seen]
        half, most = (statistics.median(share(run, part) for run in times) for part in (0.5, 0.95))
        section.add(name, sum(len(run) for run in times), "%.2f" % half, "%.2f" % most,
                    "%.2f" % max(max(run) for run in times), "%.2f" % share(settling, 0.5), "%.2f" % max(settling))
        bench.say("latency, %s: p50 %.2f ms, p95 %.2f ms" % (name, half, most))
        if bench.options.size[1] == 1080:
            bench.report.checks += [at_most("latency, %s, p50" % name, half, limit50, "ms"),
                                    at_most("latency, %s, p95" % name, most, limit95, "ms")]
        bench.report.checks.append(at_most("settling, %s, longest" % name, max(settling), SETTLING, "ms"))


def rate(bench):
    """The bytes of each second of motion, against the rate that was asked for."""
    section = Section(
        "rate", "Bit rate",
        "Kilobits that arrived in each second of motion after the first, by the bit rate that was asked for. The last "
        "column but one looks at every second, wherever it begins; the last is the largest picture, by which a second may "
        "exceed its share: a picture starts once the ones before have been carried, however many bytes it has.",
        ["scene", "asked kbit/s", "mean kbit/s", "largest kbit/s", "largest, share", "any second, share",
         "largest picture, share"])
    bench.report.sections.append(section)
    seconds = 3.2 if bench.options.quick else 6.2
    for name in ("scroll", "full"):
        for asked in RATES[1:2] if bench.options.quick else RATES:
            run = bench.record(lambda: bench.ours("--bitrate", str(asked)), bench.scene(name), seconds)
            arrivals = [((one.arrival - run.started) / 1e9, (one.end - one.offset) * 8) for one in run.link]
            picture = max((size for time, size in arrivals if time >= 1), default=0) / asked
            bench.forget_run(run)
            length = (run.stopped - run.started) / 1e9

            def bits(begin):
                return sum(size for time, size in arrivals if begin <= time < begin + 1)

            whole = [bits(begin) for begin in range(1, int(length))]
            anywhere = [bits(1 + step / 10) for step in range(int((length - 2) * 10) + 1)]
            section.add(name, asked // 1000, "%.0f" % (statistics.mean(whole) / 1000), "%.0f" % (max(whole) / 1000),
                        "%.0f %%" % (100 * max(whole) / asked), "%.0f %%" % (100 * max(anywhere) / asked),
                        "%.0f %%" % (100 * picture))
            bench.say("rate, %s at %d kbit/s: %.0f %% at most" % (name, asked // 1000, 100 * max(whole) / asked))
            bench.report.checks.append(at_most(
                "rate, %s at %d kbit/s, largest second" % (name, asked // 1000), max(whole) / asked,
                max(RATE_SHARE, 1 + picture), "times what was asked"))


def sharpness(bench):
    """How long after a scroll's last change the decoded picture is as good as the screen."""
    section = Section(
        "sharpness", "Sharp after a scroll",
        "Seconds from the last change of a two-second scroll until the decoded picture has an SSIM of %g or better "
        "against the screen." % SHARP,
        ["bit rate kbit/s", "seconds", "SSIM of the first picture after it", "SSIM at the end", "pictures after it",
         "bytes after it"])
    bench.report.sections.append(section)
    scene = bench.scene("scroll")
    for asked, limit in SHARP_AFTER.items():
        run = bench.record(lambda: bench.ours("--bitrate", str(asked)), scene, 2.0, tail=limit + 2)
        exact = pictures.luma_of(next(scene.pictures([scene.ticks(2.0)])), "601")
        values = []
        for one, luma in zip(run.link, pictures.decode(run.path, scene.size)):
            if one.arrival >= run.stopped - 150_000_000:
                seen = pictures.masked(luma, exact, scene.facts.pointer)
                values.append(((one.arrival - run.stopped) / 1e9, pictures.ssim(seen, exact), one.end - one.offset))
        bench.forget_run(run)
        if not values:
            raise Failure("no picture came at the end of the scroll")
        sharp = next((max(0.0, time) for time, ssim, _ in values if ssim >= SHARP), None)
        after = [one for one in values if one[0] > 0]
        first = (after or values)[0]
        section.add(asked // 1000, "never" if sharp is None else "%.2f" % sharp, "%.5f" % first[1],
                    "%.5f" % values[-1][1], len(after), sum(one[2] for one in after))
        bench.say("sharpness at %d kbit/s: %s" % (asked // 1000, "never" if sharp is None else "%.2f s" % sharp))
        bench.report.checks.append(
            Check("sharp after a scroll at %d kbit/s" % (asked // 1000),
                  "never (SSIM %.4f)" % values[-1][1] if sharp is None else "%.2f s" % sharp, "at most %g s" % limit,
                  sharp is not None and sharp <= limit))
