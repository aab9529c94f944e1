"""How commands are run here that come to an end: those that steer a share, look into files, and install."""

import glob
import json
import os
import re
import shlex
import signal
import time

from bench_kit import devtools
from bench_kit.processes import Failure, free_port

from . import apart, peers, recipes
from .peers import FFmpeg
from .running import run, words_here
from .stage import Screenrelay

#: Seconds that a build may take.
BUILD = 3600


def shell(stage, command, limit):
    """A line that needs nothing but the programs, and makes the files that it names."""
    begun = time.monotonic()
    said = run(stage, command.text, limit)
    home = stage.environment["HOME"]
    for name in re.findall(r"(?:>|-o) ([^\s)]+)", command.text):
        path = os.path.join(stage.folder, name.replace("~", home))
        files = glob.glob(path + "/*.1") if os.path.isdir(path) else [path]
        if not files or not all(os.path.getsize(file) for file in files):
            raise Failure("there is nothing in %s" % name)
        said = "%d files" % len(files) if len(files) > 1 else said
    return time.monotonic() - begun, said[:60]


def steer(stage, command, limit):
    """A command for a share that runs; those of a block have the same one."""
    shared = steered(stage)
    begun = time.monotonic()
    removed = re.search(r"^screenrelay remove (\w+)", command.text)
    if removed:
        guest = peers.client(stage, "rtc", "guest", [shared.link, removed[1]])
        guest.event("joined", begun + limit)
        begun = time.monotonic()
    said = run(stage, command.text, limit, stage.block.environment)
    if removed:
        guest.event("closed", begun + limit)
    if command.text == "screenrelay stop" and shared.talker.child.wait(limit) != 0:
        raise Failure("the share ended with %d: %s" % (shared.talker.child.returncode, shared.talker.last_words()))
    if not said:
        raise Failure("it said nothing")
    return time.monotonic() - begun, said[:40]


def push_list(stage, command, limit):
    return (recipes.control if hasattr(stage, "pushed") else steer)(stage, command, limit)


def steered(stage):
    """A share in a home of its own, so that it is the only one that commands find."""
    if not stage.block.share:
        stage.block.environment = stage.home("steered-%d" % time.monotonic_ns(), "rtsp=0\n")
        stage.block.port = free_port()
        stage.block.share = Screenrelay(stage.start(
            ["screenrelay", "share", "--sound", "both", "--listen", "127.0.0.1:%d" % stage.block.port],
            stage.block.environment))
    return stage.block.share


def web(stage, command, limit):
    """A request to a share."""
    steered(stage)
    begun = time.monotonic()
    token = "~/.local/state/screenrelay/api-127.0.0.1:%d.token" % stage.block.port
    text = command.text.replace(":8080", ":%d" % stage.block.port).replace("TOKEN-FILE", token)
    said = run(stage, text + " -sS -w '\\n%{http_code}'", limit, stage.block.environment)
    if said.split()[-1] not in ("200", "204"):
        raise Failure("it said: " + said)
    return time.monotonic() - begun, said.split()[-1]


def inspect(stage, command, limit):
    apart.recording(stage, command.text.split()[-1], limit)
    begun = time.monotonic()
    said = run(stage, command.text + " | tee inspected", limit)
    if not said:
        raise Failure("it said nothing")
    if "--json" in command.text:
        with open(os.path.join(stage.folder, "inspected")) as file:
            for line in file:
                json.loads(line)
    return time.monotonic() - begun, ""


def export(stage, command, limit):
    """An export, whose file FFmpeg decodes. The recordings here are of seconds, and the places in them likewise."""
    text = command.text.replace("--from 1m", "--from 1s").replace("--to 90s", "--to 2s")
    apart.recording(stage, text.split()[2], limit)
    begun = time.monotonic()
    run(stage, text, limit)
    path = os.path.join(stage.folder, re.search(r"-o (\S+)", text)[1])
    FFmpeg(stage, ["-i", path]).first("video", begun + limit)
    return time.monotonic() - begun, ""


def doctor(stage, command, limit):
    """What it finds on this machine is no fault of the document; a wrong command line is."""
    begun = time.monotonic()
    said = run(stage, " ".join(map(shlex.quote, words_here(stage, command.text))), 2 * limit, codes=(0, 69))
    return time.monotonic() - begun, said[:60]


def end_stranger(process, limit):
    """Ends a process that isn't this program's child, and waits until it has ended."""
    deadline = time.monotonic() + limit
    try:
        os.kill(process, signal.SIGTERM)
        while time.monotonic() < deadline:
            os.kill(process, 0)
            time.sleep(0.05)
    except ProcessLookupError:
        return
    raise Failure("process %d doesn't end" % process)


def doctor_browser(stage, command, limit):
    """With a browser as the desktop's choice: Chromium, which needs no window here."""
    folder = os.path.join(stage.folder, "desktop")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "xdg-open")
    flags = ["--headless=new", *(["--no-sandbox"] if os.geteuid() == 0 else []),
             "--user-data-dir=" + os.path.join(stage.folder, "profile"), *devtools.FLAGS[1:]]
    identifier = os.path.join(folder, "pid")
    with open(path, "w") as file:
        file.write("#!/bin/sh\necho $$ >%s\nexec %s \"$@\"\n" % (
            shlex.quote(identifier), " ".join(map(shlex.quote, [devtools.chromium(), *flags]))))
    os.chmod(path, 0o755)
    environment = {**stage.environment, "PATH": folder + ":" + stage.environment["PATH"]}
    begun = time.monotonic()
    try:
        said = run(stage, command.text, 3 * limit, environment, codes=(0, 69))
    finally:
        # doctor leaves the browser to its user.
        if os.path.exists(identifier):
            with open(identifier) as file:
                end_stranger(int(file.read()), limit)
    if "browser" in said:
        raise Failure("it said: " + said)
    return time.monotonic() - begun, said[:60]


def quickstart(stage, command, limit):
    one = stage.start(["bash", "-c", "cd %s && exec %s" % (shlex.quote(peers.REPOSITORY), command.text)],
                      stage.environment)
    shared = Screenrelay(one, BUILD)
    return FFmpeg(stage, ["-i", shared.rtsp]).first("video", time.monotonic() + limit) - one.begun, "with the build"


def repository(stage, command, limit):
    """A line for the repository's folder."""
    begun = time.monotonic()
    run(stage, "cd %s && %s" % (shlex.quote(peers.REPOSITORY), command.text), BUILD, {})
    return time.monotonic() - begun, ""


def install(stage, command, limit):
    """The installation into a folder of this run, without root; then each program there says its version."""
    folder = os.path.join(stage.folder, "installed")
    os.makedirs(folder, exist_ok=True)
    *_, target = command.text.split()
    text = command.text.replace("sudo ", "").replace(".build/release/", stage.programs + "/").replace(target, folder)
    begun = time.monotonic()
    run(stage, text, limit)
    names = sorted(os.listdir(folder))
    for name in names:
        run(stage, os.path.join(folder, name) + " --version", limit)
    return time.monotonic() - begun, ", ".join(names)


def packages(stage, command, limit):
    """What apt would do; the names are those of one version of Debian."""
    with open("/etc/os-release") as file:
        if 'VERSION_ID="12"' not in file.read():
            return None, "not run: names packages of Debian 12"
    begun = time.monotonic()
    run(stage, command.text.replace("sudo apt-get ", "apt-get --simulate "), limit)
    return time.monotonic() - begun, "simulated"
