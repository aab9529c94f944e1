"""The picture at rest: what is decoded of it, and what the compositor shows."""

import collections

import numpy

from bench_kit import pictures
from bench_kit.limits import at_least
from bench_kit.processes import Failure
from bench_kit.report import Section

from .casts import OursOnWayland, screenshot
from .limits import AT_REST, CHROMA_AT_REST
from .run import record

#: A page that has scrolled, by default settings.
SCENE = "scroll"


def picture(bench):
    report = bench.report
    section = Section(
        "picture", "The picture at rest",
        "After %g s of scrolling, when nothing is sent any more: the SSIM of the luma, and the PSNR of the chroma in "
        "4:2:0. The screenshot is another screen cast of the desktop, which GStreamer receives; drawn is what the "
        "scene has painted. The pointer is in neither." % bench.options.seconds,
        ["what", "SSIM of Y", "PSNR dB of Cb", "PSNR dB of Cr"])
    report.sections.append(section)
    found = bench.run_twice("the picture at rest", lambda folder: _measure(bench, folder))
    if found is None:
        report.failures.append("the picture at rest")
        return
    for what, (ssim, blue, red) in zip(("decoded, to the screenshot", "the screenshot, to what was drawn"), found):
        section.add(what, "%.5f" % ssim, "%.2f" % blue, "%.2f" % red)
        bench.say("picture, %s: SSIM of Y %.5f, Cb %.2f dB, Cr %.2f dB" % (what, ssim, blue, red))
        report.checks.append(at_least("the picture at rest, %s" % what, ssim, AT_REST, "SSIM"))
        for plane, psnr in (("Cb", blue), ("Cr", red)):
            report.checks.append(
                at_least("the picture at rest, %s: %s" % (what, plane), psnr, CHROMA_AT_REST, "dB"))


def _measure(bench, folder):
    scene, shots = bench.scene(SCENE), []
    run = record(
        OursOnWayland(bench.program("screenrelay-capture")), scene, folder, bench.options.seconds, bench.options.lead,
        at_rest=lambda desktop: shots.append(screenshot(desktop, scene.size, folder)))
    decoded = collections.deque(pictures.decode_planes(run.path, scene.size), maxlen=1)
    if not decoded:
        raise Failure("no picture was decoded")
    width, height = scene.size
    shown = _planes_of(numpy.frombuffer(shots[0], numpy.uint8).reshape(height, width, 3))
    drawn = _planes_of(next(scene.pictures([scene.ticks(bench.options.seconds)])))
    return _compare(decoded[0], shown), _compare(shown, drawn)


def _planes_of(picture):
    matrix = OursOnWayland.matrix
    return [pictures.luma_of(picture, matrix), *pictures.chroma_of(picture, matrix)]


def _compare(planes, exact):
    """The SSIM of Y, and the PSNR of Cb and of Cr."""
    return pictures.ssim(planes[0], exact[0]), pictures.psnr(planes[1], exact[1]), pictures.psnr(planes[2], exact[2])
