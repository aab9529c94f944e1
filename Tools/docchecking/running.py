"""Lines of a shell as the documents have them, with this machine in place of names that stand for others."""

import os
import shlex
import subprocess

from bench_kit.processes import Failure

from .peers import REPOSITORY

SECRET, WORDS = "secret", "open sesame, if you please"


def run(stage, text, limit, environment=None, codes=(0,)):
    """Runs a line of a shell to its end; gives what it said. Its folder is the stage's."""
    environment = {**os.environ, **(stage.environment if environment is None else environment)}
    try:
        done = subprocess.run(
            ["bash", "-c", "set -o pipefail; " + text], cwd=stage.folder, stdin=subprocess.DEVNULL, capture_output=True,
            env={name: value for name, value in environment.items() if value is not None}, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failure("it doesn't end within %g s" % limit)
    said = [" ".join(one.decode(errors="replace").split()) for one in (done.stdout, done.stderr)]
    if done.returncode not in codes:
        raise Failure("exit code %d: %s" % (done.returncode, " ".join(said)[-300:]))
    return said[0]


def words_here(stage, text):
    """A command's words: our display, our ports, and a server of the tests where a TURN server is named."""
    if "turn.example.org" in text:
        text = text.replace("turn.example.org", "127.0.0.1:%d" % _turn(stage))
    for name in ("--capture-key " + SECRET, "--ice-secret-file " + SECRET):
        path = os.path.join(stage.folder, SECRET)
        if name in text and not os.path.exists(path):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(WORDS + "\n")
    # A port that is free in any case.
    text = text.replace("--rtsp 8554", "--rtsp 0").replace(":7300", ":%d" % stage.block.link_port).replace(
        "tls:HOST", "tls:127.0.0.1")
    words = shlex.split(text)
    for place in [place + 1 for place, word in enumerate(words) if word == "--display"]:
        words[place] = stage.display.name
    return [word.replace("~", stage.environment["HOME"], 1) if word.startswith("~/") else word for word in words]


def _turn(stage):
    """The port of a server that takes what share and doctor send to a TURN server."""
    if not stage.block.turn:
        path = os.path.join(REPOSITORY, "Tests", "DiagnosisTests", "turn_server.py")
        with open(os.path.join(stage.folder, SECRET), "w") as file:
            file.write(WORDS + "\n")
        os.chmod(file.name, 0o600)
        server = stage.start(["/usr/bin/python3", path, "--secret", WORDS], {"PYTHONDONTWRITEBYTECODE": "1"})
        stage.block.turn = int(server.wait(lambda _, line: line, server.begun + 20, "port"))
    return stage.block.turn
