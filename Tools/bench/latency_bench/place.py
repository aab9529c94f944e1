"""Where a browser's page shows the video."""

import time

from bench_kit.processes import Failure


def wait_until_playing(page, plays, seconds=40):
    """Waits until the expression `plays` is true in the page."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(plays):
        if time.monotonic() > deadline:
            raise Failure("the page does not play within %g s" % seconds)
        time.sleep(0.1)


def place_in_window(page, size):
    """Where in its window the page shows a video of this size: x, y and scale, in CSS pixels."""
    box = page.evaluate("""(() => {
        const { left, top, width, height } = document.querySelector("#video").getBoundingClientRect();
        return { left, top, width, height };
    })()""")
    scale = min(box["width"] / size[0], box["height"] / size[1])
    # The video keeps its shape inside its box.
    return (box["left"] + (box["width"] - scale * size[0]) / 2, box["top"] + (box["height"] - scale * size[1]) / 2,
            scale)


def place(page, size):
    """Where on its screen the page shows a video of this size: x, y and scale."""
    x, y, scale = place_in_window(page, size)
    # The bar over the picture goes after a while; the counter is at the top, where the figures are.
    window = page.evaluate("""({
        left: screenX + (outerWidth - innerWidth) / 2, top: screenY + outerHeight - innerHeight,
        ratio: devicePixelRatio })""")
    return (x + window["left"]) * window["ratio"], (y + window["top"]) * window["ratio"], scale * window["ratio"]
