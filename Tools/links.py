"""Checks that every relative link in the Markdown files leads to a file of this repository, and to a heading where it names one."""

import functools
import pathlib
import re
import subprocess
import sys


@functools.cache
def headings(file):
    """The anchors of a Markdown file's headings, as GitHub makes them: a second one of the same words ends in -1."""
    text = re.sub(r"^(```|~~~).*?^\1", "", file.read_text(), flags=re.M | re.S)
    anchors = set()
    for heading in re.findall(r"^#+\s+(.*)$", text, flags=re.M):
        # Of a link only the words count.
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        count = 0
        while (anchor if count == 0 else f"{anchor}-{count}") in anchors:
            count += 1
        anchors.add(anchor if count == 0 else f"{anchor}-{count}")
    return anchors


problems = []
listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True)
for name in listed.stdout.split():
    file = pathlib.Path(name)
    text = file.read_text()
    # Code is not a link.
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = file.parent / path if path else file
        if not other.exists():
            problems.append(f"{file}: {target} leads nowhere")
        elif anchor and (other.suffix != ".md" or anchor not in headings(other)):
            problems.append(f"{file}: {target}: no heading for #{anchor}")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
