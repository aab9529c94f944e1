"""Checks the dependency rules of the layout; reads `swift package dump-package` on standard input.

A target depends only on groups above its own (or on its own group, where the design says so), pure cores import nothing
but each other and the standard library, nothing in Sources or TestTools imports what has the data of ICU, the programs that capture
reach neither Foundation nor GLib, and that of sound nothing of the pictures' libraries. A client of rooms reaches
nothing of a host. A folder of Sources, TestTools and Tests holds at most 30 files.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

GROUPS = ["System", "Media", "Codecs", "Link", "Capture", "Host", "RTC", "Rooms", "Kit", "Inputs", "Outputs", "Clients", "Programs", "TestTools"]
# A line for each group, so that two changes seldom touch the same one.
PURE = {
    "MediaTypes", "ByteCoding", "H264", "Opus", "CodecTable",
    "CaptureLink", "Recording", "Replaying", "Inspection", "Exporting",
    "RateControl",
    "TrackHub",
    "STUN", "RTP", "SDP", "CongestionControl", "MediaSessions",
    "Rooms", "SocketIORooms", "PageBundling",
    "RTMP",
    "OutputLife", "OutputSettings", "RTSP",
    "PictureTimeline",
}
# LockOrder is Mutex of Synchronization, with a check in debug builds.
STANDARD = {"Swift", "Synchronization", "LockOrder"}
# One import links the data of ICU into a program, which is larger than all the rest of it.
WITH_ICU = {"Foundation", "FoundationInternationalization", "FoundationNetworking", "FoundationXML"}
FORBIDDEN = {"Foundation", "FoundationEssentials", "CGLib"}
LARGEST_FOLDER = 30
CAPTURES = {
    "screenrelay-capture": FORBIDDEN,
    "screenrelay-sound": FORBIDDEN | {"CLibAV", "CX264", "CYUV", "CXCB"},
}

# What a client of rooms must not need.
HOST_GROUPS = {"Capture", "Kit", "Inputs"}
HOST_TARGETS = {"Ingest", "Pushing", "RTSPServing", "Joining"}

package = json.load(sys.stdin)
problems = []
targets = {}
for target in package["targets"]:
    path = target.get("path") or ""
    names = []
    for dependency in target["dependencies"]:
        for value in dependency.values():
            names.append(value[0])
    targets[target["name"]] = (path, names, target["type"])


def group(name):
    path = targets[name][0]
    if path.startswith("TestTools/"):
        return "TestTools"
    return path.split("/")[1] if path.startswith("Sources/") else None


def imports(path):
    found = {}
    for file in sorted(pathlib.Path(path).rglob("*.swift")):
        for line in file.read_text().splitlines():
            match = re.match(r"\s*(?:@\S+\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(?:\w+\s+)?(\w+)", line)
            if match:
                found.setdefault(match.group(1), file)
    return found


def reach(name, seen):
    for dependency in targets[name][1]:
        if dependency in targets and dependency not in seen:
            seen.add(dependency)
            reach(dependency, seen)
    return seen


for name, (path, dependencies, kind) in targets.items():
    if kind == "system":
        continue
    used = imports(path)
    for module, file in used.items():
        if module in targets and module not in dependencies:
            problems.append(f"{file}: imports {module}, which {name} does not declare")
    for dependency in dependencies:
        # A program that a test only starts is declared so that it is built.
        if dependency not in used and targets[dependency][2] != "executable":
            problems.append(f"{name} declares {dependency}, but imports it nowhere")

for name, (path, dependencies, kind) in targets.items():
    here = group(name)
    if here is None:
        continue
    if path not in {f"Sources/{here}/{name}", f"TestTools/{name}"}:
        problems.append(f"{name}: its folder is {path}, not its group / its name")
    if here not in GROUPS:
        problems.append(f"{name}: no such group as {here}")
        continue
    for dependency in dependencies:
        there = group(dependency)
        if there is None or GROUPS.index(there) > GROUPS.index(here):
            problems.append(f"{name} ({here}) depends on {dependency} ({there}), which stands below it")
    if kind == "system":
        for file in pathlib.Path(path).iterdir():
            if file.name not in {"module.modulemap", "shim.h"}:
                problems.append(f"{file}: System holds module maps and shims only")
        continue
    for module, file in imports(path).items():
        if name in PURE and module not in STANDARD and module not in PURE:
            problems.append(f"{file}: the pure core {name} imports {module}")
        if module in WITH_ICU:
            problems.append(f"{file}: imports {module}, which has the data of ICU; import FoundationEssentials")

for program, forbidden in CAPTURES.items():
    for name in {program} | reach(program, set()):
        for module, file in imports(targets[name][0]).items():
            if module in forbidden:
                problems.append(f"{file}: the program {program} reaches {module}")

for name in targets:
    if group(name) != "Clients":
        continue
    for reached in sorted(reach(name, set())):
        if group(reached) in HOST_GROUPS or reached in HOST_TARGETS:
            problems.append(f"the client {name} reaches {reached}, which belongs to a host")

# SwiftPM takes sub-folders without being told of them.
listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "Sources", "TestTools", "Tests"], capture_output=True, text=True, check=True)
files = {pathlib.Path(name) for name in listed.stdout.split("\0") if name}
folders = collections.Counter(file.parent for file in files if file.exists())
for folder, count in sorted(folders.items()):
    if count > LARGEST_FOLDER:
        problems.append(f"{folder}: {count} files, more than {LARGEST_FOLDER}: divide it into folders by what they do")

for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
