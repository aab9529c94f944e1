"""The scenes: programs that people share. Whatever is random in them has a seed, except in demos of xscreensaver."""

import os
import sys

from .films import BIKES, BUNNY, FACE, Call, Films, Letterbox, Noise
from .pages import Slides, Wheel
from .scene import FULL_HD, Alternating, Clock, Columns, Dragged, Game, Hack, Keys, Own, Terminal

LOG = (sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "build_log.py"))
IN_XTERM = ("xterm", "-geometry", "213x55+0+0", "-fn", "fixed", "-b", "0", "-e")
SCENES = {scene.name: scene for scene in [
    Terminal("build-log", *LOG, is_steady=True),
    Terminal("find", "sh", "-c", "while :; do find /usr; done"),
    Terminal("top", "top", "-d", "0.5", package="procps", is_held_out=True),
    Keys("vim", (*IN_XTERM, "vim", "--clean", "{text}"), "ctrl+f", 0.09, {"xterm": "xterm", "vim": "vim"}),
    Keys("writing", ("mousepad", "{text}"), "a b c space d e f Return", 0.2, {"mousepad": "mousepad"},
         is_held_out=True),
    Keys("book", ("mupdf", "{book}"), "space", 0.3, {"mupdf": "mupdf"}, is_held_out=True),
    Columns("two-logs", *LOG),
    Dragged("dragging", is_held_out=True),
    Dragged("dragging-over-log", *LOG, is_held_out=True),
    Alternating("windows"),
    Alternating("windows-full-hd", FULL_HD, is_held_out=True),
    Clock("clock", is_held_out=True),
    Wheel("page", is_held_out=True),
    Slides("slides", is_held_out=True),
    Films("film", (BUNNY, (1920, 1080, 0, 0))),
    Films("film-window", (BUNNY, (960, 540, 200, 100))),
    Films("bikes", (BIKES, (1920, 1080, 0, 0)), is_held_out=True),
    Films("two-films", (BIKES, (960, 408, 0, 300)), (BUNNY, (960, 540, 960, 240)), is_held_out=True),
    Films("talking-head", (FACE, (1920, 1080, 0, 0)), is_held_out=True),
    Call("call", (FACE, (640, 524, 620, 60)), size=(1280, 720), is_held_out=True),
    Letterbox("letterbox", is_held_out=True),
    Game("speedmine", "-no-bonuses", name="game", is_held_out=True),
    Hack("xmatrix", "-no-trace"),
    Hack("fireworkx", is_held_out=True),
    Hack("interference"),
    Hack("attraction"),
    Hack("rocks", is_held_out=True),
    Hack("halo", is_held_out=True),
    Noise("noise"),
    Own("full", "full"),
    Own("scroll", "scroll"),
    Own("flick", "flick"),
    Own("drag", "drag", is_held_out=True),
]}
