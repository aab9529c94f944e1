"""Looks for frames of a log in an xterm that show two states of the screen; see --help."""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time

from bench_kit import pictures
from bench_kit.display import Display
from bench_kit.processes import Failure, Missing, Process, wait_until
from bench_kit.recorders import Ours

SIZE = (1280, 720)
#: An xterm's character of the font "fixed".
CELL = (6, 13)
# Even, as the size of the window in pixels has to be.
COLUMNS, ROWS = SIZE[0] // CELL[0] & ~1, SIZE[1] // CELL[1] & ~1
#: Of a line's number; its complement follows. A bit is so many characters wide.
BITS, BIT_CELLS = 12, 3
STEADY = ["--constant-qp", "24", "--no-refinement"]
WAYS = {
    "screen": (STEADY, SIZE, 1),
    "rate": (["--bitrate", "4M"], SIZE, 1),
    "scaled": ([*STEADY, "--scale", "60%"], (768, 432), 0.6),
    "window": ([*STEADY, "--window", "xterm"], (COLUMNS * CELL[0], ROWS * CELL[1]), 1),
    "region": ([*STEADY, "--region", "1200x640+0+0"], (1200, 640), 1),
}


def log():
    """What runs in the xterm: bursts of lines, with pauses as a program that works has them."""
    source = random.Random(45)
    with open(os.path.abspath(__file__)) as text:
        words = text.read().split()
    number = 0
    while True:
        lines = []
        for _ in range(source.randint(1, 20)):
            number = (number + 1) % (1 << BITS)
            bits = "{:0{n}b}{:0{n}b}".format(number, number ^ (1 << BITS) - 1, n=BITS)
            marks = "".join(("\033[7m" if bit == "1" else "\033[0m") + " " * BIT_CELLS for bit in bits)
            text = " ".join(source.choices(words, k=source.randint(2, 12)))
            lines.append(marks + "\033[0m " + text[:COLUMNS - 2 * BITS * BIT_CELLS - 2])
        sys.stdout.write("\n" + "\n".join(lines))
        sys.stdout.flush()
        time.sleep(source.random() * 0.03)


def numbers(luma, scale):
    """The numbers of a frame's lines; None for one that isn't whole, as xterm clears and paints them one after another."""
    found = []
    for row in range(int(luma.shape[0] / scale) // CELL[1]):
        line = luma[int((row * CELL[1] + CELL[1] / 2) * scale)]
        value = 0
        for bit in range(2 * BITS):
            value = value << 1 | int(line[int((bit + 0.5) * BIT_CELLS * CELL[0] * scale)] > 126)
        number, complement = value >> BITS, value & (1 << BITS) - 1
        found.append(number if number ^ complement == (1 << BITS) - 1 else None)
    return found


def is_torn(found):
    """Whether a line follows one that isn't the one before it. Lines repeat while xterm has moved the old ones up, and not
    painted the new ones yet; that is how the screen looks for a moment."""
    steps = [(after - before) % (1 << BITS) for before, after in zip(found, found[1:]) if None not in (before, after)]
    return any(1 < step < 1 << BITS - 1 for step in steps)


def soak(capture, way, frames):
    """Counts frames, torn ones, and those in which most lines could be read."""
    arguments, size, scale = WAYS[way]
    folder = tempfile.mkdtemp(prefix="tears")
    terminal = program = None
    try:
        with Display(SIZE, folder) as display:
            try:
                terminal = Process("xterm", [
                    "xterm", "-geometry", "%dx%d+0+0" % (COLUMNS, ROWS), "-fn", "fixed", "-b", "0", "-bw", "0", "+sb", "-bg",
                    "black", "-fg", "white", "-e", sys.executable, os.path.abspath(__file__), "--log"],
                    os.path.join(folder, "xterm.log"), environment={"DISPLAY": display.name})
                time.sleep(1)
                terminal.require_running()
                program = Ours(capture, ["--fps", "60", *arguments])
                program.start(display, size, folder)
                wait_until(lambda: len(program.receiver.pictures) >= frames, 30 + frames / 5, "so many frames")
                program.process.require_running()
            finally:
                for one in (program, terminal):
                    if one:
                        one.stop()
        path = os.path.join(folder, "stream.264")
        with open(path, "wb") as file:
            file.write(program.stream()[0])
        count = torn = read = 0
        for luma in pictures.decode(path, size):
            found = numbers(luma, scale)
            count += 1
            read += sum(number is not None for number in found) * 2 > len(found)
            if is_torn(found):
                torn += 1
                if torn <= 3:
                    print("%s, frame %d: %s" % (way, count, found), flush=True)
        return count, torn, read
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """As sysexits has it, and in one line."""
        self.exit(64, "tears: %s; see --help\n" % message)


def main():
    if sys.argv[1:] == ["--log"]:
        return log()
    parser = Parser(
        prog="Tools/soak tears",
        description="Captures frames of a log that scrolls through an xterm, in each of five ways: all of a 1280x720 screen, "
        "the same at 4 Mbit/s, scaled, the xterm's window, and a part of the screen. Each line of the log has its number in "
        "black and white, so that a frame of two states shows: its lines skip one. Takes three minutes or more for each way.",
        epilog="exit codes: 0 no frame is torn; 1 some are; 64 usage; 69 something that is needed is missing.")
    parser.add_argument("frames", nargs="?", type=int, default=10_000, help="in each way (10000)")
    parser.add_argument("--programs", metavar="FOLDER", required=True,
                        help="where screenrelay-capture is (Tools/soak tears alone builds it)")
    parser.add_argument("--ways", metavar="LIST", default=",".join(WAYS), help="which of " + ",".join(WAYS))
    options = parser.parse_args()
    ways = options.ways.split(",")
    if options.frames < 1 or not set(ways) <= set(WAYS):
        parser.error("no such way, or no frames")
    is_good = True
    for way in ways:
        try:
            count, torn, read = soak(os.path.join(options.programs, "screenrelay-capture"), way, options.frames)
        except (Failure, Missing) as error:
            print("tears: %s: %s" % (way, error), file=sys.stderr)
            return 69
        print("%s: %d frames, %d torn; most lines could be read in %d" % (way, count, torn, read), flush=True)
        # A frame that can't be read says nothing.
        is_good = is_good and torn == 0 and read * 10 >= count * 9
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
