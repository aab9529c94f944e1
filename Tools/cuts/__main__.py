"""Cuts a recording at one byte after the other and gives each to `inspect`, `replay` and `export`; see --help.

A run is right where its exit code is, it gives all that is whole, it says at which byte that ends, and it takes no more
memory than twice the largest message beyond what it takes of a small recording, or three times for Matroska, of which
libavformat collects a cluster. Memory is what wait4(2) says of the process, to its last page; that begins with its
parent's size, so this program stays small.
"""

import argparse
import concurrent.futures
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading

from .commands import COMMANDS, Reader
from .programs import MIB, Failure, Missing, Programs
from .recording import LARGE, LARGEST, Recording, nal_units, record

OK, WRONG, MISSING, FAILED = 0, 1, 69, 70
#: Beside messages: the pieces in which files are read and written.
PIECES = MIB
#: So many bytes of the file's front, each of which it is cut at.
FIRST = 4096
#: There a large message is announced that isn't there: nothing is reserved for it, not half of it.
FIRST_LIMIT = LARGEST // 2


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """As sysexits has it, and in one line."""
        self.exit(64, "cuts: %s; see --help\n" % message)


def parse():
    parser = Parser(
        prog="Tools/soak cuts",
        description="Cuts a recording with messages of the largest size at each of its first 4,096 bytes and at 1,000 "
        "random ones, and has inspect, replay and export read each. Exits 0 only where each gave what is whole, named "
        "where that ends, and took no more than twice the largest message, three times for .mkv. `Tools/test` runs the same with fewer.",
        epilog="exit codes: 0 all is right; 1 something is not; 64 usage; 69 something that is needed is missing; "
        "70 could not be measured.")
    parser.add_argument("--programs", metavar="FOLDER", required=True,
                        help="where the built programs are (Tools/soak cuts alone builds and takes .build/release)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth of the first 4,096 bytes (1)")
    parser.add_argument("--random", type=int, default=1000, metavar="COUNT", help="how many random ones behind (1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random ones (1)")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="how many programs run at once (as many as there are processors)")
    options = parser.parse_args()
    if options.every < 1 or options.random < 0 or options.at_once < 1:
        parser.error("--every and --at-once are 1 or more, --random is 0 or more")
    return options


def own_peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def report(results, usual):
    """Prints a line for each command, and what went wrong; gives whether nothing did."""
    wrong = ["%s, cut at %d: %s" % (command.name, cut, problem)
             for command, cut, _, problems in results for problem in problems]
    for command in COMMANDS:
        limit = (3 if command.suffix == "mkv" else 2) * LARGEST + PIECES
        growths = [(peak - usual[command], cut) for other, cut, peak, _ in results if other is command]
        early = max((growth for growth in growths if growth[1] < FIRST), default=(0, 0))
        most = max(growths, default=(0, 0))
        print("%-15s %d runs; %.1f MiB of a small recording; at most %.1f MiB more, cut at %d (limit %.1f); "
              "among the first %d bytes %.1f MiB, cut at %d (limit %.1f)" % (
                  command.name, len(growths), usual[command] / MIB, most[0] / MIB, most[1], limit / MIB,
                  FIRST, early[0] / MIB, early[1], FIRST_LIMIT / MIB))
        if most[0] >= limit or early[0] >= FIRST_LIMIT:
            wrong.append("%s takes more than the limit" % command.name)
    for line in wrong[:40]:
        print("cuts: " + line, file=sys.stderr)
    if len(wrong) > 40:
        print("cuts: %d more" % (len(wrong) - 40), file=sys.stderr)
    return not wrong


def soak(options, folder):
    programs = Programs(options.programs, folder)
    units = nal_units(folder)
    small = record(programs, folder, units, False)
    large = record(programs, folder, units, True)
    recording = Recording(large)
    if recording.records[-1][4] != LARGE or recording.count < LARGE * LARGEST:
        raise Failure("the host did not record all that was sent to it")
    generator = random.Random(options.seed)
    # Between two records, too.
    cuts = sorted({*range(0, FIRST, options.every), *(record[0] for record in recording.records if record[0] < FIRST)})
    cuts += [generator.randint(FIRST, recording.count) for _ in range(options.random)]
    print("a recording of %d bytes, %d messages of the largest size; %d cuts, of which %d are random (seed %d)" % (
        recording.count, LARGE, len(cuts), options.random, options.seed), flush=True)
    readers = []
    try:
        for index in range(min(options.at_once, len(cuts))):
            readers.append(Reader(programs, folder, "reader%d" % index))
        usual = {command: statistics.median(readers[0].read(command, small)[1] for _ in range(5))
                 for command in COMMANDS}
        is_over = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(len(readers)) as pool:
            try:
                parts = [pool.submit(reader.read_cuts, cuts[index::len(readers)], large, recording, is_over)
                         for index, reader in enumerate(readers)]
                results = [result for part in parts for result in part.result()]
            finally:
                # The others' work is of no use where one failed.
                is_over.set()
        is_right = report(results, usual)
        for reader in readers:
            reader.host.finish()
    finally:
        for reader in readers:
            reader.host.stop()
    # Else every peak would be ours.
    if own_peak() >= min(usual.values()):
        raise Failure("this program grew to %d bytes: the peaks are its own" % own_peak())
    return OK if is_right else WRONG


def main():
    options = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = tempfile.mkdtemp(prefix="cuts-")
    try:
        return soak(options, folder)
    except Failure as failure:
        print("cuts: %s" % failure, file=sys.stderr)
        return MISSING if isinstance(failure, Missing) else FAILED
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
