"""The commands of the guides: the lines of their `sh` blocks, and in some the addresses in their tables."""

import dataclasses
import os
import re

GUIDES = ["README", "sharing", "sound", "separate-machines", "recordings", "watching", "publishing", "pushing",
          "operating"]
#: Those whose commands are all about a first picture, for other screens and sounds, too.
SHOWING = ["watching", "publishing", "pushing"]
#: Which words of a table are addresses to open or to push to; what begins with `?` belongs to the address before it.
ADDRESS = re.compile(r"^(GET |POST |/|\?\w|(http|rtsp|rtmp|rtmps|srt|whip|janus|file|object):)")
COMMENT = re.compile(r"\s+# .*$")


@dataclasses.dataclass(frozen=True)
class Command:
    guide: str
    line: int
    text: str
    #: Whether it stands in a table; if not, in a block of commands.
    is_in_table: bool
    #: The line where its block or its table begins: commands of one block may need each other.
    group: int

    @property
    def place(self):
        return "%s.md:%d" % (self.guide, self.line)


def commands(folder, guides):
    """Those of these guides in the repository."""
    for guide in guides:
        with open(os.path.join(folder, "" if guide == "README" else "Documentation", guide + ".md")) as file:
            yield from _of(guide, file.read().split("\n"))


def _of(guide, lines):
    fence, group, begun = None, 0, ""
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fence, group, begun = (line[3:].strip() or "text") if fence is None else None, number, ""
        elif fence == "sh":
            begun += line
            if line.endswith("\\"):
                begun = begun[:-1].rstrip() + " "
                continue
            text, begun = COMMENT.sub("", " " + begun).strip(), ""
            if text:
                yield Command(guide, number, text, False, group)
        elif fence is None and line.startswith("|") and guide in SHOWING:
            group = number if not lines[number - 2].startswith("|") else group
            yield from _row(guide, number, line, group)


def _row(guide, number, line, group):
    """One command for each address in the row."""
    before = ""
    for text in re.findall(r"`([^`]+)`", line.replace("\\|", "")):
        if not ADDRESS.match(text):
            continue
        if text.startswith("?"):
            text = before.split("?")[0] + text
        else:
            before = text
        yield Command(guide, number, text, True, group)
