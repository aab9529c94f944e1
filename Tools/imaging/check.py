"""Checks a container image of Tools/release/image in a network namespace of its own, which Tools/release/image makes:
it does with a read-only root and without capabilities what its users expect of it."""

import json
import os
import resource
import socket
import subprocess
import sys
import tarfile
import urllib.request

from bench_kit.devtools import Browser
from bench_kit.processes import Failure, Missing, wait_until

#: Seconds that anything may take on a busy machine, and that a container may take to end.
LIMIT, END_LIMIT = 60, 10
#: An address of ours that isn't loopback, where viewers get video.
ADDRESS = "192.0.2.1"
#: What a check may fail with.
TROUBLES = (Failure, OSError, subprocess.SubprocessError)
#: The colour in the middle of the video as red, green and blue; null if there is no video yet.
PROBE = """(() => {
    const video = document.querySelector("video");
    if (!video || video.videoWidth === 0 || video.readyState < 2) return null;
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.drawImage(video, video.videoWidth / 2 - 16, video.videoHeight / 2 - 16, 32, 32, 0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
})()"""


def run(*command):
    """What a command prints; a Failure with its messages if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=10 * LIMIT)
    if result.returncode != 0:
        raise Failure("%s: %s" % (" ".join(command), result.stderr.strip()))
    return result.stdout.strip()


def make_network():
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "screen0", "type", "veth", "peer", "name", "screen1")
    run("ip", "address", "add", ADDRESS + "/24", "dev", "screen0")
    for name in ("screen0", "screen1"):
        run("ip", "link", "set", name, "up")


class Container:
    """A container of the image, with the image's own command; the host also has a capture key."""

    def __init__(self, image, path, folder):
        # runc also runs where both versions of control groups are mounted.
        self.podman = ["podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs",
                       "--root", os.path.join(folder, "root"), "--runroot", os.path.join(folder, "run")]
        options, arguments = [], []
        if image == "host":
            key = os.path.join(folder, "key")
            with open(key, "w") as file:
                file.write(os.urandom(16).hex())
            run(*self.podman, "secret", "create", "capture-key", key)
            options = ["--secret", "capture-key,uid=10000,mode=0400,target=/etc/screenrelay/capture-key"]
            arguments = ["--link", "tls:0.0.0.0:7300", "--capture-key", "/etc/screenrelay/capture-key"]
        else:
            # Lasts until the second start, as it does without --read-only.
            options = ["--volume", "/tmp"]
        loaded = run(*self.podman, "pull", "--quiet", "oci-archive:" + path)
        # Podman raises limits, which root may be forbidden.
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        self.id = run(
            *self.podman, "run", "--detach", "--read-only", "--network", "host", "--cap-drop", "all",
            "--security-opt", "no-new-privileges", "--log-driver", "k8s-file",
            "--ulimit", "nofile=%d:%d" % (files, files), "--ulimit", "nproc=4096:4096", *options, loaded, *arguments)

    def inspect(self, what):
        return run(*self.podman, "inspect", "--format", "{{.State.%s}}" % what, self.id)

    def execute(self, *command, options=()):
        """Runs a command in the container; its result."""
        return subprocess.run(
            [*self.podman, "exec", *options, self.id, *command], capture_output=True, text=True, timeout=LIMIT)

    def wait_until_healthy(self, command):
        def is_healthy():
            if self.inspect("Running") != "true":
                raise Failure("the container ended with " + self.inspect("ExitCode"))
            return self.execute(*command).returncode == 0

        wait_until(is_healthy, LIMIT, "health according to '%s'" % " ".join(command))

    def link(self):
        """The invite link."""
        printed = self.execute("screenrelay", "link").stdout
        for word in printed.split():
            if word.startswith("http") and "#" in word:
                return word
        raise Failure("no invite link in '%s'" % printed)

    def end(self):
        """Ends it with SIGTERM; the exit code."""
        run(*self.podman, "kill", "--signal", "TERM", self.id)
        wait_until(lambda: self.inspect("Running") == "false", END_LIMIT, "the end after SIGTERM")
        return self.inspect("ExitCode")

    def start_again(self):
        run(*self.podman, "start", self.id)

    def messages(self):
        result = subprocess.run([*self.podman, "logs", self.id], capture_output=True, text=True, timeout=LIMIT)
        return (result.stdout + result.stderr)[-2000:]

    def remove(self):
        subprocess.run([*self.podman, "rm", "--force", "--volumes", self.id], capture_output=True, timeout=LIMIT)


def health_command(path):
    """The image's health check, which podman itself reads only in Docker's formats."""
    with tarfile.open(path) as layout:
        manifest = json.load(layout.extractfile("manifest.json"))[0]
        kind, *command = json.load(layout.extractfile(manifest["Config"]))["config"]["Healthcheck"]["Test"]
    if kind != "CMD":
        raise Failure("the health check isn't a command: " + kind)
    return command


def check_rights(container):
    with open("/proc/%s/status" % container.inspect("Pid")) as file:
        status = dict(line.rstrip("\n").split(":", 1) for line in file)
    if status["Uid"].split() != ["10000"] * 4:
        raise Failure("the program runs as user" + status["Uid"])
    # As root, so that only the mount can refuse it.
    if container.execute("touch", "/file", options=["--user", "root"]).returncode == 0:
        raise Failure("the root can be written")
    print("it runs as user 10000, with a read-only root", flush=True)


def check_page(link):
    address = link.split("#")[0]
    with urllib.request.urlopen(address, timeout=LIMIT) as answer:
        if "<title>ScreenRelay</title>" not in answer.read().decode():
            raise Failure(address + " isn't the page")
    with urllib.request.urlopen(address + "healthz", timeout=LIMIT) as answer:
        if answer.status != 204:
            raise Failure("%shealthz answers %d" % (address, answer.status))
    print("it serves the page", flush=True)


def check_picture(container, link, folder):
    """Windows that cover the middle of the display must be visible in the page."""
    browser = Browser([], os.path.join(folder, "chromium.log"))
    try:
        page = browser.new_page()
        page.navigate(link)
        for number, colour in ((0, "red"), (2, "blue")):
            run(*container.podman, "exec", "--detach", container.id, "xterm", "-geometry", "150x40+100+100",
                "-bg", colour, "-e", "sleep", "infinity")

            def shows():
                seen = page.evaluate(PROBE)
                return bool(seen) and all((value > 128) == (part == number) for part, value in enumerate(seen))

            wait_until(shows, LIMIT, "a %s window in the page" % colour)
    finally:
        browser.close()
    print("the browser saw two windows open", flush=True)


def check(image, path, folder):
    make_network()
    os.mkdir(folder)
    container = Container(image, path, folder)
    try:
        health = health_command(path)
        container.wait_until_healthy(health)
        print("it is healthy", flush=True)
        check_rights(container)
        link = container.link()
        check_page(link)
        if image == "desktop":
            check_picture(container, link, folder)
        else:
            socket.create_connection((ADDRESS, 7300), LIMIT).close()
            print("it has a port for captures, with a capture key", flush=True)
        code = container.end()
        if code != "0":
            raise Failure("SIGTERM ended it with code " + code)
        print("SIGTERM ended it with code 0", flush=True)
        container.start_again()
        container.wait_until_healthy(health)
        if container.link() != link:
            raise Failure("the invite link changed with a restart")
        print("its invite link is still valid after a restart", flush=True)
    except TROUBLES:
        print("What the container printed:\n" + container.messages(), file=sys.stderr)
        raise
    finally:
        container.remove()


def main():
    image, path, folder = sys.argv[1:]
    print("== %s, with %s and runc" % (image, run("podman", "--version")), flush=True)
    try:
        check(image, path, folder)
    except Missing as problem:
        print("Tools/release/image: %s" % problem, file=sys.stderr)
        sys.exit(69)
    except TROUBLES as problem:
        print("Tools/release/image: %s: %s" % (image, problem), file=sys.stderr)
        sys.exit(70)


if __name__ == "__main__":
    main()
