"""Checks that every relative link in the Markdown files leads to a file of this repository."""

import pathlib
import re
import subprocess
import sys

problems = []
listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True)
for name in listed.stdout.split():
    file = pathlib.Path(name)
    text = file.read_text()
    # Code is not a link.
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    headings = {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#+\s+(.*)$", file.read_text(), flags=re.M)
    }
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        if path and not (file.parent / path).exists():
            problems.append(f"{file}: {target} leads nowhere")
        if not path and anchor not in headings:
            problems.append(f"{file}: no heading for #{anchor}")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
