"""Scenes that are pages in Chromium."""

import os

from . import films
from .scene import Scene
from .texts import lines


class Page(Scene):
    """A page in Chromium; subclasses say what is on it."""

    lead = 2.5
    needs = {"chromium": "chromium"}

    def html(self):
        raise NotImplementedError

    def start(self, actors):
        page = os.path.join(actors.folder, "page.html")
        with open(page, "w") as file:
            file.write("<!doctype html><meta charset=utf-8>" + self.html())
        width, height = self.size
        actors.start("chromium", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-extensions",
                     "--disable-background-networking", "--user-data-dir=" + os.path.join(actors.folder, "profile"),
                     "--window-position=0,0", "--window-size=%d,%d" % (width, height), "--app=file://" + page)


class Wheel(Page):
    """A text that scrolls like a wheel does: a step of 53 pixels 20 times a second, then a pause."""

    def html(self):
        return ("<body style='font: 15px sans-serif; width: 60em'>"
                + "".join("<h2>%d</h2><p>%s</p>" % (number, line * 6) for number, line in enumerate(lines(600)))
                + "<script>let n = 0; setInterval(() => { if (++n % 40 < 25) scrollBy(0, 53) }, 50)</script>")


class Slides(Page):
    """Slides, one every two seconds, with a film in a corner."""

    def __init__(self, name, **options):
        super().__init__(name, is_steady=True, **options)

    def prepare(self, say, programs):
        films.fetch(say)

    def html(self):
        text, slides = lines(60), []
        for number in range(10):
            points = "".join("<li>%s" % line for line in text[number * 6:number * 6 + 6])
            slides.append("<section style='background: hsl(%d 60%% 92%%)'><h1>%s</h1><ul>%s</ul></section>"
                          % (number * 97, text[number][:30], points))
        return """<style>
            body { margin: 0; overflow: hidden; font: 24px sans-serif }
            section { position: absolute; inset: 0; padding: 2em 24em 2em 3em; visibility: hidden }
            video { position: absolute; right: 40px; bottom: 40px; width: 480px }
            </style>""" + "".join(slides) + "<video autoplay muted loop src='file://%s'></video>" % os.path.join(
            films.CLIPS, films.BUNNY) + """<script>
            const slides = document.querySelectorAll("section");
            let shown = 0;
            slides[0].style.visibility = "visible";
            setInterval(() => {
                slides[shown].style.visibility = "hidden";
                slides[shown = (shown + 1) % slides.length].style.visibility = "visible";
            }, 2000);
            </script>"""
