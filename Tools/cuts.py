"""Cuts a recording at one byte after the other and gives each to `inspect`, `replay` and `export`; see --help.

A run is right where its exit code is, it gives all that is whole, it says at which byte that ends, and it takes no more
memory than twice the largest message beyond what it takes of a small recording. Memory is what wait4(2) says of the process,
to its last page; that begins with its parent's size, so this program stays small.
"""

import argparse
import concurrent.futures
import os
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

OK, WRONG, MISSING, FAILED = 0, 1, 69, 70
MIB = 1 << 20
#: The most that a message's payload holds (Protocol/capture-link.md), start code included.
LARGEST = 8 * MIB
#: How many messages of that size there are: one more than may be in memory at once.
LARGE = 3
#: Beside messages: the pieces in which files are read and written.
PIECES = MIB
#: So many bytes of the file's front, each of which it is cut at.
FIRST = 4096
#: There a large message is announced that isn't there: nothing is reserved for it, not half of it.
FIRST_LIMIT = LARGEST // 2
START_CODE = b"\0\0\0\1"
FILE_HEADER, RECORD_HEADER, MESSAGE_HEADER = 48, 24, 40
#: Seconds after which a run hangs.
PATIENCE = 60


class Failure(Exception):
    """Why nothing could be measured."""


class Missing(Failure):
    """Something that is needed isn't there."""


def parse():
    parser = argparse.ArgumentParser(
        prog="Tools/soak/cuts",
        description="Cuts a recording with messages of the largest size at each of its first 4,096 bytes and at 1,000 random "
        "ones, and has inspect, replay and export read each. Exits 0 only where each gave what is whole, named where that "
        "ends, and took no more than twice the largest message. `Tools/test` runs the same with fewer.")
    parser.add_argument("--programs", metavar="FOLDER", required=True,
                        help="where the built programs are (Tools/soak/cuts alone builds and takes .build/release)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth of the first 4,096 bytes (1)")
    parser.add_argument("--random", type=int, default=1000, metavar="COUNT", help="how many random ones behind those (1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random ones (1)")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="how many programs run at once (as many as there are processors)")
    options = parser.parse_args()
    if options.every < 1 or options.random < 0 or options.at_once < 1:
        parser.error("--every and --at-once are 1 or more, --random is 0 or more")
    return options


class Programs:
    """The built programs, run in a folder of their own."""

    def __init__(self, folder, home):
        self.path = os.path.join(os.path.abspath(folder), "screenrelay")
        if not os.access(self.path, os.X_OK):
            raise Missing("there is no program %s" % self.path)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=home, HOME=home)
        self.environment.pop("DISPLAY", None)

    def run(self, words, log):
        """Runs to the end; gives the exit code (below zero: the signal), the peak memory in bytes, and what was said."""
        output = os.open(log, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            nothing = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
            process = os.posix_spawn(
                self.path, [self.path, *words], self.environment,
                file_actions=[nothing, (os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)])
            watch = threading.Timer(PATIENCE, os.kill, (process, signal.SIGKILL))
            watch.start()
            try:
                # Ended, but not reaped: its number is still its own when the watch is called off.
                os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            finally:
                watch.cancel()
                watch.join()
            _, status, usage = os.wait4(process, 0)
            # Lines are folded to a width.
            said = " ".join(os.pread(output, MIB, 0).decode("utf-8", "replace").split())
        finally:
            os.close(output)
        return os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10, said


class Host:
    """A host that takes in what is replayed."""

    def __init__(self, programs, folder, name, words=()):
        socket = os.path.join(folder, name + ".sock")
        self.address = "unix:" + socket
        self.log = os.path.join(folder, name + ".log")
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [programs.path, "host", "--link", self.address, *words, "--listen", "127.0.0.1:0", "--udp-port", "0",
                 "--log", "warning"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=programs.environment)
        deadline = time.monotonic() + 20
        while not os.path.exists(socket):
            if self.child.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Failure("no host: %s" % self.words())
            time.sleep(0.01)

    def words(self):
        with open(self.log, errors="replace") as log:
            return " ".join(log.read().split())

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
        try:
            return self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.wait()

    def finish(self):
        code = self.stop()
        if code != 0:
            raise Failure("the host ended with %d: %s" % (code, self.words()))


def nal_units(folder):
    """SPS, PPS and one slice a picture."""
    path = os.path.join(folder, "in.264")
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=25:duration=%g" % (LARGE / 25),
               "-c:v", "libx264", "-bf", "0", "-x264-params", "keyint=1", "-pix_fmt", "yuv420p", "-f", "h264", path]
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Missing("ffmpeg can't be started: %s" % error)
    except subprocess.CalledProcessError as error:
        raise Failure("ffmpeg made no stream: %s" % error)
    with open(path, "rb") as file:
        stream = file.read()
    # In front of a start code there may be one more zero.
    units = [unit.rstrip(b"\0") for unit in stream.split(START_CODE[1:])[1:]]
    return [unit for unit in units if unit[0] & 0x1F != 6]


def record(programs, folder, units, is_large):
    """What a host records of a replay of these NAL units; slices take as much as a message can hold where `is_large`."""
    stream = os.path.join(folder, "made.264")
    path = os.path.join(folder, "large.srr" if is_large else "small.srr")
    piece = b"\x55" * 65536
    with open(stream, "wb") as file:
        for unit in units:
            file.write(START_CODE + unit)
            missing = LARGEST - len(START_CODE) - len(unit) if is_large and unit[0] & 0x1F == 5 else 0
            while missing > 0:
                missing -= file.write(piece[:missing])
    host = Host(programs, folder, "recorder", ["--record", path])
    try:
        code, _, said = programs.run(["replay", "--speed", "max", "--link", host.address, stream], stream + ".log")
        if code != 0:
            raise Failure("replay ended with %d: %s" % (code, said))
    finally:
        host.stop()
    os.remove(stream)
    return path


class Recording:
    """Where the records of a file end, and what is whole before each."""

    def __init__(self, path):
        self.count = os.path.getsize(path)
        #: For each record: its end, and up to there messages, NAL units, their bytes, pictures.
        self.records = [(FILE_HEADER, 0, 0, 0, 0)]
        with open(path, "rb") as file:
            while self.records[-1][0] < self.count:
                self.records.append(self.after(self.records[-1], file))

    @staticmethod
    def after(record, file):
        start, messages, units, size, pictures = record
        file.seek(start)
        header = file.read(RECORD_HEADER + MESSAGE_HEADER + len(START_CODE) + 1)
        marker, kind, _, length = struct.unpack_from("<HBBI", header)
        if marker != 0x521E:
            raise Failure("no record begins at byte %d of what was recorded" % start)
        if kind == 1:
            messages += 1
            # Kind 0 of the link: a NAL unit.
            if header[RECORD_HEADER + 1] == 0:
                units += 1
                size += length - MESSAGE_HEADER
                pictures += header[-1] & 0x1F == 5
        return start + RECORD_HEADER + length, messages, units, size, pictures

    def whole(self, cut):
        """The last record that ends at or before `cut`; None inside the file's header."""
        return next((record for record in reversed(self.records) if record[0] <= cut), None)


class Command:
    """One of the programs' ways to read a recording, and what it should say of one that is cut."""

    def __init__(self, name, words, suffix=None):
        self.name = name
        self.words = words
        self.suffix = suffix

    def expected(self, cut, recording):
        """The exit code, pieces of what is said, and whether a file is written."""
        end, messages, units, size, pictures = recording.whole(cut) or (0, 0, 0, 0, 0)
        is_between = end == cut and cut > 0
        code, is_written = 0 if is_between else 65, False
        if cut == 0:
            return code, ["the file is empty"], False
        pieces = ["byte %d" % end if end > 0 else "after %d bytes" % cut]
        if self.suffix is None and self.words[0] == "inspect":
            pieces += ["ends at byte %d" % cut, "pictures %s" % ("%d:" % pictures if pictures else "none")]
            pieces += ["messages %d with" % messages] if messages else []
        elif self.suffix is None:
            pieces += ["Sent %d messages, " % units]
        else:
            is_written = (size if self.suffix == "h264" else pictures) > 0
            if not is_written:
                code = 65
                pieces += ["no picture in it can be exported"]
            else:
                pieces += ["{:,} bytes".format(size) if self.suffix == "h264" else "%d pictures of 160x120" % pictures]
        if is_between and end == recording.count:
            pieces = [piece for piece in pieces if not piece.startswith("byte ")]
        return code, pieces, is_written


COMMANDS = [
    Command("inspect", ["inspect", "-s"]), Command("replay", ["replay", "--speed", "max", "--link", None]),
    Command("export to .h264", ["export", "-o", None], "h264"), Command("export to .mp4", ["export", "-o", None], "mp4"),
    Command("export to .mkv", ["export", "-o", None], "mkv")]


class Reader:
    """A copy of the recording, a host and a folder: one of those that work at once."""

    def __init__(self, programs, folder, name):
        self.programs = programs
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self.host = Host(programs, self.folder, "host")

    def read(self, command, path):
        """The exit code, the peak, what was said, whether a file was written; no other may be left."""
        output = os.path.join(self.folder, "out.%s" % command.suffix)
        place = self.host.address if command.suffix is None else output
        before = set(os.listdir(self.folder))
        code, peak, said = self.programs.run(
            [place if word is None else word for word in command.words] + [path], self.folder + ".log")
        is_written = os.path.exists(output)
        if is_written:
            os.remove(output)
        return code, peak, said, is_written, set(os.listdir(self.folder)) - before

    def read_cuts(self, cuts, path, recording, is_over):
        """Cuts a copy shorter and shorter, until `is_over` is set; gives (command, cut, peak, problems) of each run."""
        copy = os.path.join(self.folder, "cut.srr")
        shutil.copyfile(path, copy)
        results = []
        for cut in sorted(cuts, reverse=True):
            if is_over.is_set():
                break
            os.truncate(copy, cut)
            for command in COMMANDS:
                code, peak, said, is_written, left = self.read(command, copy)
                expected, pieces, writes = command.expected(cut, recording)
                problems = ["does not say '%s'" % piece for piece in pieces if piece not in said]
                if code != expected:
                    problems.append("exit code %d, not %d" % (code, expected))
                if is_written != writes:
                    problems.append("wrote a file" if is_written else "wrote no file")
                if left:
                    problems.append("left %s" % ", ".join(sorted(left)))
                if problems:
                    problems[-1] += ": " + said[:400]
                results.append((command, cut, peak, problems))
        return results


def own_peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def report(results, usual):
    """Prints a line for each command, and what went wrong; gives whether nothing did."""
    wrong = ["%s, cut at %d: %s" % (command.name, cut, problem)
             for command, cut, _, problems in results for problem in problems]
    limit = 2 * LARGEST + PIECES
    for command in COMMANDS:
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
