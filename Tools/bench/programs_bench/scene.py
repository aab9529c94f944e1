"""What a scene is, and the kinds of scenes that are one program each."""

import math
import os

from bench_kit.processes import require_programs

from .texts import lines, write_book

HACKS = "/usr/libexec/xscreensaver"
HD, FULL_HD = (1280, 720), (1920, 1080)


class Scene:
    """A scene; subclasses start its programs.

    `is_held_out`: settings are never chosen by it. `is_steady`: a film or a log, whose frames should all be seen.
    """

    #: Seconds until the measured window begins.
    lead = 1.5
    #: How often the screen is painted before that.
    paints = 10
    #: The programs that have to be installed, and their packages.
    needs = {}

    def __init__(self, name, size=HD, is_held_out=False, is_steady=False):
        self.name, self.size, self.is_held_out, self.is_steady = name, size, is_held_out, is_steady

    def require(self):
        """Ends with a Missing that names the package of a program that isn't installed."""
        require_programs(self.needs)

    def prepare(self, say, programs):
        """Fetches or builds what it needs; `programs` is the folder of our own programs."""

    def start(self, actors):
        raise NotImplementedError


class Terminal(Scene):
    """A command in an xterm over all of the screen."""

    def __init__(self, name, *command, package=None, **options):
        super().__init__(name, **options)
        self.command = command
        self.needs = {"xterm": "xterm", **({command[0]: package} if package else {})}

    def start(self, actors):
        width, height = self.size
        # Cells of 6x13 pixels.
        xterm(actors, "%dx%d+0+0" % (width // 6, height // 13), "-bg", "black", "-fg", "grey90", "-e", *self.command)


class Columns(Scene):
    """A command in two xterms side by side, with another seed in each: columns that scroll by different steps."""

    needs = {"xterm": "xterm"}

    def __init__(self, name, *command, **options):
        super().__init__(name, **options)
        self.command = command

    def start(self, actors):
        width, height = self.size
        for seed, left in ("45", 0), ("46", width // 2):
            xterm(actors, "%dx%d+%d+0" % (width // 12, height // 13, left), "-bg", "black", "-fg", "grey90",
                  "-e", *self.command, seed)


class Hack(Scene):
    """A demo of xscreensaver over all of the screen."""

    def __init__(self, hack, *arguments, name=None, **options):
        super().__init__(name or hack, **options)
        self.path, self.arguments = os.path.join(HACKS, hack), arguments
        self.needs = {self.path: "xscreensaver-data-extra"}

    def start(self, actors):
        actors.start(self.path, "-root", *self.arguments)


class Game(Hack):
    """A demo of a game, below still rows of a score and of a map."""

    def __init__(self, hack, *arguments, **options):
        super().__init__(hack, *arguments, **options)
        self.needs = {**self.needs, "xterm": "xterm"}

    def start(self, actors):
        super().start(actors)
        width, height = self.size
        text = write_lines(actors, 8)
        for geometry in ("%dx3+0+0" % (width // 6), "60x8-0-0"):
            xterm(actors, geometry, "-bg", "navy", "-fg", "yellow", "-e", "sh", "-c", "cat %s; sleep 1000" % text)


class Own(Scene):
    """A scene of our own."""

    def __init__(self, name, kind, size=FULL_HD, **options):
        super().__init__(name, size, **options)
        self.kind = kind

    def prepare(self, say, programs):
        self.path = os.path.join(programs, "screenrelay-scene")

    def start(self, actors):
        actors.start(self.path, "--display", actors.display.name, "--scene", self.kind, "--fps", "30")


class Clock(Scene):
    """A clock with a hand that moves once a second."""

    needs = {"xclock": "x11-apps"}
    paints = 1

    def start(self, actors):
        actors.start("xclock", "-update", "1", "-geometry", "%dx%d+0+0" % self.size)


class Keys(Scene):
    """A program to which xdotool gives keys, again and again."""

    def __init__(self, name, command, keys, every, needs, **options):
        super().__init__(name, **options)
        self.command, self.keys, self.every = command, keys, every
        self.needs = {"xdotool": "xdotool", **needs}

    def start(self, actors):
        book = os.path.join(actors.folder, "book.pdf")
        write_book(book)
        text = write_lines(actors, 40_000)
        actors.start(*[word.format(book=book, text=text) for word in self.command])
        # Without a window manager, the pointer says who gets the keys.
        actors.start("sh", "-c", "sleep 1; xdotool mousemove 300 300; while :; do xdotool key %s; sleep %g; done"
                     % (self.keys, self.every))


class Dragged(Scene):
    """A terminal that a window manager drags in circles over another one, which shows a text or runs a command."""

    needs = {"xfwm4": "xfwm4", "xterm": "xterm", "xdotool": "xdotool"}

    def __init__(self, name, *command, **options):
        super().__init__(name, **options)
        self.command = command

    def start(self, actors):
        text = write_lines(actors, 200)
        actors.start("xfwm4", "--compositor=off")
        shown = ("sh", "-c", "cat %s; sleep 1000" % text)
        for place, command in ("100x40+400+100", self.command or shown), ("80x25+100+100", shown):
            xterm(actors, place, "-e", *command)
        steps = " ".join("mousemove %d %d sleep 0.016" % (300 + x, 110 + y) for x, y in circle())
        actors.start("sh", "-c", "sleep 1.5; xdotool mousemove 300 110 sleep 0.3 mousedown 1; "
                     "while :; do xdotool %s; done" % steps)


class Alternating(Scene):
    """Windows over all of the screen, of which one after the other is raised, once a second."""

    needs = {"mupdf": "mupdf", "xterm": "xterm", "xdotool": "xdotool"}
    paints = 1

    def start(self, actors):
        book = os.path.join(actors.folder, "book.pdf")
        write_book(book)
        text = write_lines(actors, 200)
        actors.start("xterm", "-T", "text", "-fn", "fixed", "-e", "sh", "-c", "sleep 2; cat %s; sleep 1000" % text)
        actors.start("mupdf", book)
        windows = ["search --name text", "search --class mupdf"]
        place = "windowmove %@ 0 0 windowsize %@ 100% 100%"
        actors.start("sh", "-c", "sleep 1.5; %s; while :; do %s; done" % (
            "; ".join("xdotool %s %s" % (window, place) for window in windows),
            "; ".join("xdotool %s windowraise %%@; sleep 1" % window for window in windows)))


def xterm(actors, geometry, *arguments):
    """Starts an xterm whose columns and rows are of a known size."""
    actors.start("xterm", "-geometry", geometry, "-fn", "fixed", "-b", "0", "+sb", *arguments)


def write_lines(actors, count):
    """The path of a text of so many lines."""
    path = os.path.join(actors.folder, "%d-lines.txt" % count)
    with open(path, "w") as file:
        file.write("\n".join(lines(count)))
    return path


def circle():
    """A circle of the pointer, in 60 steps."""
    return [(round(200 * math.cos(step * math.tau / 60)) - 200, round(150 * math.sin(step * math.tau / 60)) + 150)
            for step in range(60)]
