"""The ways to read a recording, and what each should say and write of one that is cut."""

import os
import shutil

from .programs import Host


class Command:
    """One of the ways; in `words`, None stands for where it goes: a host, or a file that ends in `suffix`."""

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
            pieces += ["Sent %d message%s, " % (units, "" if units == 1 else "s")]
        else:
            is_written = (size if self.suffix == "h264" else pictures) > 0
            if not is_written:
                code = 65
                pieces += ["no picture in it can be exported"]
            else:
                pieces += ["{:,} bytes".format(size) if self.suffix == "h264" else "%d picture%s of 160x120" % (pictures, "" if pictures == 1 else "s")]
        if is_between and end == recording.count:
            pieces = [piece for piece in pieces if not piece.startswith("byte ")]
        return code, pieces, is_written


COMMANDS = [
    Command("inspect", ["inspect", "-s"]),
    Command("replay", ["replay", "--speed", "max", "--link", None]),
    Command("export to .h264", ["export", "-o", None], "h264"),
    Command("export to .mp4", ["export", "-o", None], "mp4"),
    Command("export to .mkv", ["export", "-o", None], "mkv"),
]


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
