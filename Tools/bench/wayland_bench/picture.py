"""The picture at rest: what is decoded of it, and what the compositor shows."""

import collections

import numpy

from capture_bench import pictures
from capture_bench.limits import at_least
from capture_bench.processes import Failure
from capture_bench.report import Section
from capture_bench.run import record

from .limits import AT_REST
from .programs import OursOnWayland, screenshot

#: A page that has scrolled, by default settings.
SCENE = "scroll"


def picture(bench, report):
    section = Section(
        "picture", "The picture at rest",
        "The SSIM of the luma after %g s of scrolling, when nothing is sent any more. The screenshot is another screen "
        "cast of the desktop, which GStreamer receives; drawn is what the scene has painted. The pointer is in "
        "neither." % bench.options.seconds, ["what", "SSIM"])
    report.sections.append(section)
    found = bench.run_twice("the picture at rest", lambda folder: _measure(bench, folder))
    if found is None:
        report.failures.append("the picture at rest")
        return
    for what, ssim in zip(("decoded, to the screenshot", "the screenshot, to what was drawn"), found):
        section.add(what, "%.5f" % ssim)
        bench.say("picture, %s: SSIM %.5f" % (what, ssim))
        report.checks.append(at_least("the picture at rest, %s" % what, ssim, AT_REST, "SSIM"))


def _measure(bench, folder):
    scene, shots = bench.scene(SCENE), []
    run = record(
        OursOnWayland(bench.program("screenrelay-capture")), scene, folder, bench.options.seconds, bench.options.lead,
        at_rest=lambda desktop: shots.append(screenshot(desktop, scene.size, folder)))
    decoded = collections.deque(pictures.decode(run.path, scene.size), maxlen=1)
    if not decoded:
        raise Failure("no picture was decoded")
    width, height = scene.size
    shown = pictures.luma_of(numpy.frombuffer(shots[0], numpy.uint8).reshape(height, width, 3), OursOnWayland.matrix)
    drawn = pictures.luma_of(next(scene.pictures([scene.ticks(bench.options.seconds)])), OursOnWayland.matrix)
    return pictures.ssim(decoded[0], shown), pictures.ssim(shown, drawn)
