"""Where a browser's page shows the video."""

import time

from capture_bench.processes import Failure


def wait_until_playing(page, plays, seconds=40):
    """Waits until the expression `plays` is true in the page."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(plays):
        if time.monotonic() > deadline:
            raise Failure("the page does not play within %g s" % seconds)
        time.sleep(0.1)


def place(page, size):
    """Where on its screen the page shows a video of this size: x, y and scale."""
    # The bar over the picture goes after a while; the counter is at the top, where the figures are.
    box = page.evaluate("""(() => {
        const { left, top, width, height } = document.querySelector("#video").getBoundingClientRect();
        return { left: left + screenX + (outerWidth - innerWidth) / 2, top: top + screenY + outerHeight - innerHeight,
                 width, height, ratio: devicePixelRatio };
    })()""")
    scale = min(box["width"] / size[0], box["height"] / size[1])
    # The video keeps its shape inside its box.
    x = box["left"] + (box["width"] - scale * size[0]) / 2
    y = box["top"] + (box["height"] - scale * size[1]) / 2
    return x * box["ratio"], y * box["ratio"], scale * box["ratio"]
