"""The command line of a benchmark, as a list of the options that it has.

A mistake is reported in one line that names the option, the value and what would be right, with the exit code 64.
"""

import argparse
import re
import textwrap

SCENES = ["idle", "pointer", "typing", "scroll", "drag", "video", "full"]
SIZES = ["640x360", "1280x720", "1920x1080", "3840x2160"]
#: The exit codes of all benchmarks.
CODES = {0: "done", 1: "a limit is missed (--check)", 64: "usage", 69: "something that is needed is missing",
         70: "a measurement failed twice"}
#: Of a benchmark in network namespaces.
NEEDS_ROOT = {77: "not root: nothing was measured, and what was skipped is named"}
WIDTH = 110


class Option:
    """One option, or with a name that has no dashes, what stands on the command line without an option."""

    def __init__(self, name, help, metavar=None, default=None, read=str, to=None, is_many=False, **more):
        """`read` makes a value of a word, or raises a ValueError that says what would be right."""
        self.names = name.split()
        self.settings = dict(more, help=help.replace("%", "%%"))
        if default is not None and default != [] and "action" not in more:
            self.settings["help"] += " (%s)" % (default if isinstance(default, str) else "%g" % default)
        if "action" not in more:
            self.settings.update(metavar=metavar, type=_checked(read), default=default)
            if isinstance(default, str):
                self.settings["default"] = read(default)
        if is_many:
            self.settings.update({"action": "append", "default": []} if name.startswith("-") else {"nargs": "*"})
        if to:
            self.settings["dest"] = to


def _checked(read):
    def checked(word):
        try:
            return read(word)
        except ValueError as error:
            raise argparse.ArgumentTypeError("%s: %s" % (word, error))
    return checked


def flag(name, help, **more):
    return Option(name, help, action="store_true", **more)


def number(name, default, least, most, metavar, help, **more):
    """A whole number if its limits are, or one with a fraction if `least` is a float."""
    def read(word):
        try:
            value = type(least)(word)
        except ValueError:
            raise ValueError("not a %snumber" % ("whole " if isinstance(least, int) else ""))
        if not least <= value <= most:
            raise ValueError("from %g to %g" % (least, most))
        return value
    return Option(name, help, metavar, default, read, **more)


def numbers(name, default, least, most, help, kind=float, **more):
    """Numbers with commas between them."""
    def read(words):
        try:
            found = [kind(word) for word in words.split(",")]
        except ValueError:
            raise ValueError("not numbers; write them like %s" % (default or "1,5"))
        if not all(least <= one <= most for one in found):
            raise ValueError("each from %g to %g" % (least, most))
        return found
    return Option(name, help, "LIST", default, read, **more)


def names(name, known, help, default=None, metavar="LIST", groups={}, is_all=True, **more):
    """Some of the known names with commas between them; without a default, all of them or, without `is_all`, None.
    `groups` are names for several of them."""
    def read(words):
        if words in groups:
            return list(groups[words])
        found = words.split(",")
        for one in found:
            if one not in known:
                raise ValueError("'%s' is none of %s" % (one, ", ".join([*known, *groups])))
        return list(dict.fromkeys(found))
    usual = " (%s)" % (default or "all") if default or is_all else ""
    help += "" if help.endswith("which") else ": some"
    option = Option(name, "%s of %s%s" % (help, ",".join([*known, *groups]), usual), metavar, None, read, **more)
    option.settings["default"] = read(default) if default else list(known) if is_all else None
    return option


def choice(name, known, default, help, metavar=None, **more):
    """One of the known names, which are in the help."""
    def read(word):
        if word not in known:
            raise ValueError("none of %s" % ", ".join(known))
        return word
    return Option(name, help, metavar or "{%s}" % ",".join(known), default, read, **more)


def size(default="1280x720", help="of the screen"):
    def read(text):
        sides = re.fullmatch(r"(\d{3,4})x(\d{3,4})", text)
        if not sides:
            raise ValueError("write it like 1280x720")
        return tuple(int(side) for side in sides.groups())
    return Option("--size", help, "WxH", default, read)


def bit_rate(default="4M", help="of the share"):
    def read(text):
        match = re.fullmatch(r"(\d+)([kMG]?)", text)
        if not match:
            raise ValueError("write it like 4M or 600k")
        value = int(match[1]) * {"": 1, "k": 1000, "M": 10 ** 6, "G": 10 ** 9}[match[2]]
        if not 10_000 <= value <= 10 ** 9:
            raise ValueError("from 10k to 1G")
        return value
    return Option("--bitrate", help, "RATE", default, read, to="bit_rate")


def parts(name, known, default=None, help="what to measure; see below"):
    """Names on the command line without an option; all of the known ones, unless there is a default."""
    def read(word):
        if word not in known:
            raise ValueError("none of %s" % ", ".join(known))
        return word
    option = Option(name, "%s (%s)" % (help, ",".join(default) if default else "all"), name.rstrip("s").upper(), None,
                    read, is_many=True)
    option.settings["default"] = default or list(known)
    return option


def runs(default):
    return number("--runs", default, 1, 100, "N", "runs of each, of which medians are reported")


def seconds(default, least, most, help):
    return number("--seconds", default, float(least), most, "S", help)


def programs(names="screenrelay, screenrelay-capture and screenrelay-scene"):
    return Option("--programs", "where %s are; without it they are built" % names, "DIR")


def out(tool):
    return Option("--out", "where to write", "DIR", tool + "-bench")


#: What most benchmarks have.
SHARE = Option("--share", "an option of screenrelay share, for example --share=--chroma=444; may be repeated", "OPTION",
               is_many=True)
CHECK = flag("--check", "exit with 1 if a limit is missed, and print which")
KEEP = flag("--keep", "keep logs and what was recorded in DIR/records")
RTT = number("--rtt", 40, 0.0, 10_000, "MS", "round trip without queues", to="round_trip")


def seed(help="of loss, jitter and the like"):
    return number("--seed", 1, 0, 10 ** 9, "N", help)


class Parser(argparse.ArgumentParser):
    def __init__(self, tool, description, options=(), notes="", examples=(), codes={}):
        """`notes` are paragraphs below the options; lines that begin with two spaces stay as they are. Of `examples`, each
        is what follows the command's name, and if it has one, its comment. `codes` are further exit codes."""
        prog = tool if "/" in tool else "Tools/bench/" + tool
        rows = [(prog + " " + (one if isinstance(one, str) else one[0]), "" if isinstance(one, str) else one[1])
                for one in examples]
        width = max((len(left) for left, right in rows if right), default=0)
        shown = "".join("\n" + ("  %-*s  %s" % (width, left, right)).rstrip() for left, right in rows)
        all_codes = {**CODES, **codes}
        ends = "exit codes: %s." % "; ".join("%d %s" % one for one in sorted(all_codes.items()) if one[1])
        parts = [part for part in (notes, shown and "examples:" + shown, ends) if part]
        super().__init__(prog=prog, formatter_class=argparse.RawDescriptionHelpFormatter,
                         description=_filled(description),
                         epilog="\n\n".join(_filled(part) for part in parts))
        for one in options:
            self.add_argument(*one.names, **one.settings)

    def error(self, message):
        """As sysexits has it, and in one line."""
        self.exit(64, "%s: %s; see --help\n" % (self.prog, re.sub(
            r"^argument (\S+): (?=\S*: )", lambda found: found[1] + " " if found[1].startswith("-") else "", message)))


def _filled(text):
    """The text with its paragraphs filled; lines that begin with two spaces stay as they are."""
    lines, paragraph = [], []
    for line in [*textwrap.dedent(text).strip("\n").split("\n"), ""]:
        if line.strip() and not line.startswith("  "):
            paragraph.append(line.strip())
            continue
        lines += textwrap.wrap(" ".join(paragraph), WIDTH) + [line]
        paragraph = []
    return "\n".join(lines).rstrip()
