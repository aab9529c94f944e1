"""Text: what tesseract reads of it, and whether it stays as it is beside a film."""

import collections
import os
import subprocess
import tempfile

import numpy

from bench_kit import pictures
from bench_kit.limits import Check, at_most
from bench_kit.processes import TROUBLE, Failure
from bench_kit.report import Section

from . import browser
from .limits import STILL_DIFFERENCE
from .programs import FFmpeg

FOUR_MEGABITS = ["-b:v", "4M", "-maxrate", "4M", "-bufsize", "4M"]


def normalized(words):
    return collections.Counter(word.strip(".,;:!?\"'()").lower() for word in words if word.strip(".,;:!?\"'()"))


def share_of_words(read, shown):
    """How many of the words that were shown were read, as a share."""
    shown, read = normalized(shown), normalized(read)
    return sum((shown & read).values()) / max(1, sum(shown.values()))


def read_words(path, indices, area):
    """What tesseract reads in these pictures of a stream, a list of words each. It sees them at twice their size, which
    is how it wants its letters."""
    if not indices:
        raise Failure("there is no picture to read")
    x, y, width, height = area
    with tempfile.TemporaryDirectory(prefix="crb") as folder:
        chosen = "+".join("eq(n\\,%d)" % index for index in indices)
        subprocess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "h264", "-i", path, "-vf",
             "select='%s',crop=%d:%d:%d:%d:exact=1,scale=2*iw:2*ih:flags=bicubic" % (chosen, width, height, x, y),
             "-vsync", "passthrough", "-pix_fmt", "rgb24", os.path.join(folder, "%04d.png")], check=True, timeout=120)
        return [read_picture(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def read_picture(path):
    try:
        result = subprocess.run(["tesseract", path, "-", "--psm", "6", "-l", "eng", "--dpi", "200"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=180)
    except subprocess.TimeoutExpired:
        raise Failure("tesseract did not end within 180 s")
    if result.returncode != 0:
        raise Failure("tesseract failed")
    return result.stdout.decode(errors="replace").split()


def text(bench):
    """Words read right in motion at 4 Mbit/s, ours beside FFmpeg's; and red text on black by chroma format."""
    section = Section(
        "text", "Readable text",
        "Share of words that tesseract reads right in every fourth picture in motion at 4 Mbit/s, a page that scrolls "
        "by 4 pixels a picture and one that is leafed through, 36 pixels a picture. Red on black: a still "
        "page, once as FFmpeg decodes it, and once in the picture that Chromium shows of `screenrelay share`.",
        ["what", "program", "pictures", "words right", "worst picture"])
    bench.report.sections.append(section)
    for name in ("scroll", "flick"):
        _in_motion(bench, section, bench.scene(name))
    _red(bench, section)


def _in_motion(bench, section, scene):
    makers = {"screenrelay": lambda: bench.ours("--bitrate", "4M"), "ffmpeg": lambda: FFmpeg(FOUR_MEGABITS)}
    results = {}
    for name, make in makers.items():
        run = bench.record(make, scene, 2.0)
        shares = _motion_shares(bench, run)
        bench.forget_run(run)
        results[name] = sum(shares) / len(shares)
        section.add("%s at 4 Mbit/s" % scene.name, name, len(shares), "%.1f %%" % (100 * results[name]),
                    "%.1f %%" % (100 * min(shares)))
        bench.say("text, %s: %s %.1f %%" % (scene.name, name, 100 * results[name]))
    ours, theirs = results["screenrelay"], results["ffmpeg"]
    # The slow scroll fits into 4 Mbit/s: where all words can be read there is nothing left to be better at.
    is_kept = ours > theirs or (scene.name == "scroll" and ours >= max(theirs, 0.995))
    bench.report.checks.append(
        Check("words read in motion at 4 Mbit/s, %s" % scene.name, "%.1f %%" % (100 * ours),
              "more than ffmpeg's %.1f %%" % (100 * theirs), is_kept))


def _motion_shares(bench, run):
    scene, counts = run.scene, {}
    for index, luma in enumerate(pictures.decode(run.path, scene.size)):
        if run.first_unit <= index < run.last_unit:
            counts[index] = pictures.counter(luma)
    # A picture whose counter can't be read is one whose text can't be read either: it counts as 0.
    every_fourth = sorted(counts)[2::4] or sorted(counts)
    if not every_fourth:
        raise Failure("%s sent no picture of %s in motion" % (run.program, scene.name))
    if bench.options.quick:
        every_fourth = every_fourth[len(every_fourth) // 2:][:2]
    known = [index for index in every_fourth if counts[index]]
    read = read_words(run.path, known, scene.facts.text)
    shares = [share_of_words(words, scene.words(counts[index] * scene.facts.ticks_per_count))
              for index, words in zip(known, read)]
    return shares + [0.0] * (len(every_fourth) - len(known))


def _red(bench, section):
    scene = bench.scene("red")
    formats = ["420", "444"] if bench.can("chroma") else ["420"]
    if len(formats) == 1:
        bench.report.remark("screenrelay-capture has no --chroma: 4:4:4 was not measured.")
    for format in formats:
        arguments = ["--chroma", format] if bench.can("chroma") else []
        run = bench.record(lambda: bench.ours(*arguments), scene, 1.0, lead=3.0)
        words = read_words(run.path, [len(run.units) - 1], scene.facts.text)[0]
        decoded = share_of_words(words, scene.words(0))
        bench.forget_run(run)
        title = "red on black, 4:%s:%s" % (format[1], format[2])
        section.add(title + ", decoded", "screenrelay", 1, "%.1f %%" % (100 * decoded), "")
        shown = _red_in_browser(bench, format)
        section.add(title + ", in Chromium", "screenrelay", 1, "%.1f %%" % (100 * shown), "")
        bench.say("text, %s: decoded %.1f %%, in Chromium %.1f %%" % (title, 100 * decoded, 100 * shown))


def _red_in_browser(bench, format):
    scene = bench.scene("red", browser.SIZE)
    arguments = ["--chroma", format] if bench.can("chroma") else []
    for attempt in (1, 2):
        with tempfile.TemporaryDirectory(prefix="crb") as folder:
            page, large = os.path.join(folder, "page.png"), os.path.join(folder, "large.png")
            try:
                browser.screenshot(bench, scene, arguments, page)
            except TROUBLE as error:
                bench.say("red on black in Chromium failed%s: %s" % ("" if attempt == 1 else " again", error))
                if attempt == 2:
                    raise
                continue
            subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", page, "-vf",
                            "scale=2*iw:2*ih:flags=bicubic", large], check=True, timeout=60)
            return share_of_words(read_picture(large), scene.words(0))


def still(bench):
    """How much still text beside a film changes."""
    count = 60 if bench.options.quick else 300
    section = Section(
        "still", "Still text beside a film",
        "The mean difference of the text's luma, picture by picture, from the first picture in motion; 0 to 255.",
        ["pictures", "mean difference, mean", "mean difference, largest", "largest difference of a pixel"])
    bench.report.sections.append(section)
    scene = bench.scene("video")
    run = bench.record(bench.ours, scene, count / 30 + 0.2)
    x, y, width, height = scene.facts.text
    first, means, largest = None, [], 0
    for index, luma in enumerate(pictures.decode(run.path, scene.size)):
        if not run.first_unit <= index < run.last_unit or len(means) == count:
            continue
        part = luma[y:y + height, x:x + width].astype(numpy.int16)
        if first is None:
            first = part
        difference = numpy.abs(part - first)
        means.append(float(difference.mean()))
        largest = max(largest, int(difference.max()))
    bench.forget_run(run)
    if not means:
        raise Failure("no picture of the film came")
    section.add(len(means), "%.3f" % (sum(means) / len(means)), "%.3f" % max(means), largest)
    bench.say("still text: mean difference %.3f at most over %d pictures" % (max(means), len(means)))
    bench.report.checks.append(
        at_most("still text beside a film, mean difference", max(means), STILL_DIFFERENCE, "levels"))
