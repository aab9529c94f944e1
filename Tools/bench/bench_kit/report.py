"""What was measured, as Markdown, CSV and JSON."""

import csv
import json
import os
import platform
import time


class Section:
    """A table with a heading and what has to be known to read it."""

    def __init__(self, key, title, note, columns):
        self.key, self.title, self.note, self.columns, self.rows = key, title, note, columns, []

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])


class Report:
    def __init__(self, folder, name="capture"):
        self.folder, self.name = folder, name
        self.sections, self.checks, self.remarks, self.failures = [], [], [], []

    def remark(self, text):
        if text not in self.remarks:
            self.remarks.append(text)

    def write(self, options):
        os.makedirs(self.folder, exist_ok=True)
        lines = ["# %s, measured" % self.name.capitalize(), "", circumstances(options) + "."]
        if options.quick:
            lines += ["", "**Quick: one short run; shows that all parts work, and measures little.**"]
        for text in self.remarks + ["Failed: " + failure for failure in self.failures]:
            lines += ["", text]
        for section in self.sections:
            with open(os.path.join(self.folder, section.key + ".csv"), "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(section.columns)
                writer.writerows(section.rows)
            lines += ["", "## " + section.title, "", section.note, "", *table(section.columns, section.rows)]
        return write_markdown(options, self.name, lines + limits(self.checks))


def write_json(options, name, checks=(), **found):
    """Writes NAME.json into the folder of --out: what was found, and under which circumstances."""
    os.makedirs(options.out, exist_ok=True)
    document = {"date": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "processors": os.cpu_count(), "processor": processor(),
                "linux": platform.release(), "options": vars(options), **found,
                "limits": [vars(one) for one in checks]}
    with open(os.path.join(options.out, name + ".json"), "w") as file:
        json.dump(document, file, indent=1, default=str)


def write_markdown(options, name, lines):
    """Writes NAME.md into the folder of --out; gives its path."""
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, name + ".md")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def table(columns, rows):
    """Lines of a Markdown table."""
    return (["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
            + ["| " + " | ".join(row) + " |" for row in rows])


def number(value, digits=0, factor=1):
    """A cell of a table; a dash for what isn't known."""
    return "–" if value is None else "%.*f" % (digits, value * factor)


def percent(share):
    return "–" if share is None else "%.0f %%" % (100 * share)


def pair(one, first, second, digits=0):
    return "%s / %s" % (number(one.get(first), digits), number(one.get(second), digits))


def circumstances(options):
    """When and where something was measured, and with what."""
    return "%s, %d processors (%s), Linux %s; %dx%d, 30 pictures a second, %s" % (
        time.strftime("%Y-%m-%d"), os.cpu_count(), processor(), platform.release(), *options.size,
        "one run each" if options.runs == 1 else "medians of %d runs" % options.runs)


def limits(checks):
    """Lines of a section that says which limits are kept; none without limits."""
    if not checks:
        return []
    rows = [[one.what, one.value, one.limit, "yes" if one.is_kept else "**no**"] for one in checks]
    return ["", "## Limits", "", "%d of %d are kept." % (sum(one.is_kept for one in checks), len(checks)), "",
            *table(["what", "measured", "limit", "kept"], rows)]


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()
