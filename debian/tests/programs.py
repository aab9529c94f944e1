"""The installed programs share a virtual display, and a headless browser sees it change: with `share`, with host and
capture apart, and in a replay of a recording. debian/tests/control has the command that runs this."""

import os
import subprocess
import tempfile
import time

from bench_kit.devtools import Browser
from bench_kit.display import Display
from bench_kit.processes import wait_until
from docchecking.processes import Talker

#: Seconds that anything may take on a busy machine.
LIMIT = 60
#: Addresses that are free.
ADDRESSES = ["--listen", "0", "--udp-port", "0"]
#: The colour of the video in a corner, where no pointer is, as red, green and blue; null if there is none yet.
PROBE = """(() => {
    const video = document.querySelector("video");
    if (!video || video.videoWidth === 0 || video.readyState < 2) return null;
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.drawImage(video, 0, 0, 32, 32, 0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
})()"""
#: A colour of the display, and which part of a pixel it is.
RED, BLUE = ("red", 0), ("blue", 2)


class Room:
    """A display, a home for the programs, and a browser."""

    def __init__(self, folder, display):
        self.folder, self.display = folder, display
        self.environment = {"HOME": folder, "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": None, "XDG_CONFIG_HOME": None,
                            "WAYLAND_DISPLAY": None, "DISPLAY": display.name}
        self.browser = Browser([], os.path.join(folder, "chromium.log"))
        self.running = []

    def start(self, *command):
        """Starts a program, which `end` ends."""
        self.running.append(Talker(["screenrelay", *command], self.folder, self.environment))
        return self.running[-1]

    def link(self, *command):
        """Starts a program, and gives the invite link that it prints."""
        return self.start(*command).wait(
            lambda _, line: line if line.startswith("http") else None, time.monotonic() + LIMIT, "invite link")

    def end(self):
        while self.running:
            self.running.pop().stop()

    def paint(self, colour):
        subprocess.run(["xsetroot", "-display", self.display.name, "-solid", colour[0]], check=True, timeout=LIMIT)

    def watch(self, name, link, change=lambda: None):
        """Opens the link, and waits until the video is red, and blue after the change."""
        page = self.browser.new_page()
        page.navigate(link)

        def shows(colour):
            seen = page.evaluate(PROBE)
            return bool(seen) and all((value > 128) == (part == colour[1]) for part, value in enumerate(seen))

        wait_until(lambda: shows(RED), LIMIT, name + ": a red picture")
        change()
        wait_until(lambda: shows(BLUE), LIMIT, name + ": a blue picture")
        page.close()
        print(name + ": the browser saw the display change", flush=True)


def run(room):
    room.paint(RED)
    link = room.link("share", *ADDRESSES, "--record", "shown.srr")
    room.watch("share", link, lambda: room.paint(BLUE))
    room.end()

    room.paint(RED)
    link = room.link("host", "--link", "unix:s.sock", *ADDRESSES)
    room.start("capture", "--link", "unix:s.sock")
    room.watch("host and capture", link, lambda: room.paint(BLUE))
    room.end()

    link = room.link("host", "--link", "unix:s.sock", *ADDRESSES)
    room.start("replay", "--loop", "--link", "unix:s.sock", "shown.srr")
    room.watch("replay", link)
    room.end()


def main():
    with tempfile.TemporaryDirectory() as folder, Display((640, 480), folder) as display:
        room = Room(folder, display)
        try:
            run(room)
        finally:
            room.end()
            room.browser.close()


if __name__ == "__main__":
    main()
