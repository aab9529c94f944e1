"""The installed host as a service of systemd: how it starts, restarts and reloads while 20 viewers watch a virtual
display. Needs root and a running systemd; debian/tests/control has the command that runs this. Prints a line for each
property, and exits with 1 if one is missing."""

import collections
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from bench_kit.display import Display
from bench_kit.processes import TROUBLE, Failure, Process, wait_until
from clients import ADDRESS, LIMIT, Crowd, Knocking, trust
from docchecking.processes import Talker

SERVICE, SOCKET = "screenrelay-host.service", "screenrelay-host.socket"
#: The certificate and the key, and the unit's options, none of which outlives a boot.
CERTIFICATE, KEY = "/run/screenrelay-test/cert.pem", "/run/screenrelay-test/key.pem"
OPTIONS = "/run/systemd/system/%s.d/test.conf" % SERVICE
#: What dpkg runs last when it installs the package.
POSTINST = ["env", "DPKG_MAINTSCRIPT_PACKAGE=screenrelay-host", "/var/lib/dpkg/info/screenrelay-host.postinst",
            "configure"]
#: Runs a command as the host's user, which may use the host's sockets.
AS_HOST = ["setpriv", "--reuid=screenrelay", "--regid=screenrelay", "--clear-groups", "--reset-env", "env",
           "XDG_RUNTIME_DIR=/run/screenrelay"]
#: Viewers; the most that join while the host is short of memory, and the bytes that it may still use, with room for
#: some of them. A room has at most 256 viewers from one address.
VIEWERS, MORE, LEFT = 20, 200, 24 << 20
#: The code with which a full host closes a WebSocket (Protocol/rooms.md).
FULL = 4503
#: A group of version 1 that Tools/release/service makes where systemd has no memory controller.
OLD_GROUP = "/mnt"
#: The most that `systemd-analyze security` may say, in tenths.
EXPOSURE = 20
LEVELS = {3: "error", 4: "warning", 6: "info", 7: "debug"}


def output(*command, input=""):
    """What a command prints; a Failure with its words if it fails."""
    done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != 0:
        raise Failure("%s: exit code %d: %s" % (
            " ".join(command[:3]), done.returncode, " ".join((done.stderr + done.stdout).split())[-300:]))
    return done.stdout.strip()


def systemctl(*words):
    return output("systemctl", *words)


def show(name):
    return systemctl("show", "--property", name, "--value", SERVICE)


def is_active(unit):
    return subprocess.run(["systemctl", "is-active", "--quiet", unit]).returncode == 0


def require(condition, words):
    if not condition:
        raise Failure(words)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class ShortMemory:
    """Leaves the host some bytes more than it uses, and gives whether the kernel enforces that."""

    def __init__(self, process, limit):
        self.process, self.limit = process, limit
        self.by_systemd = os.path.exists("/sys/fs/cgroup%s/memory.max" % show("ControlGroup"))

    def __enter__(self):
        if self.by_systemd:
            self._set(int(show("MemoryCurrent")) + LEFT)
        elif os.path.exists(OLD_GROUP + "/memory.limit_in_bytes"):
            # The memory that the process already uses counts in its former group.
            write(OLD_GROUP + "/memory.limit_in_bytes", str(LEFT))
            write(OLD_GROUP + "/cgroup.procs", str(self.process))
        else:
            return False
        return True

    def __exit__(self, *_):
        if self.by_systemd:
            self._set(self.limit)
        elif os.path.exists(OLD_GROUP + "/memory.limit_in_bytes"):
            write(OLD_GROUP + "/memory.limit_in_bytes", "-1")

    @staticmethod
    def _set(limit):
        systemctl("set-property", "--runtime", SERVICE, "MemoryMax=%s" % limit)


def make_certificate(name):
    """A new certificate for the host, and its fingerprint."""
    output("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
           "2", "-subj", "/CN=" + name, "-keyout", KEY, "-out", CERTIFICATE)
    shutil.chown(KEY, "screenrelay", "screenrelay")
    os.chmod(KEY, 0o600)
    with open(CERTIFICATE) as file:
        return fingerprint(file.read())


def fingerprint(certificate):
    return output("openssl", "x509", "-noout", "-fingerprint", "-sha256", input=certificate)


def served():
    """The fingerprint of the certificate that a new connection gets."""
    return fingerprint(output("openssl", "s_client", "-connect", "%s:%d" % ADDRESS))


class Test:
    def __init__(self, folder, display):
        self.folder, self.display, self.crowd, self.capture = folder, display, Crowd(), None

    def run(self):
        """Prints a line for each property, and gives whether the host has all of them."""
        is_right = True
        for name, check in [("boot", self.boot), ("install", self.install), ("socket", self.activate),
                            ("viewers", self.watch), ("restart", self.restart), ("kill -9", self.crash),
                            ("reload", self.reload), ("memory", self.memory), ("security", self.security),
                            ("journal", self.journal)]:
            try:
                print("%s: %s" % (name, check()), flush=True)
            except (*TROUBLE, OSError) as error:
                is_right = False
                print("%s: FAILED: %s" % (name, error), flush=True)
        return is_right

    def boot(self):
        require(is_active(SOCKET) and is_active(SERVICE), "the installed units don't run")
        return "the installed service and its socket run"

    def install(self):
        systemctl("stop", SOCKET, SERVICE)
        output(*POSTINST)
        require(is_active(SOCKET) and is_active(SERVICE), "an installation doesn't start both")
        before = show("MainPID")
        output(*POSTINST, "0")  # the version before
        require(is_active(SOCKET) and is_active(SERVICE), "not both run after an upgrade")
        require(show("MainPID") != before, "an upgrade doesn't restart the service")
        # These starts are not to count for the unit's limit of starts (StartLimitBurst=).
        systemctl("reset-failed", SERVICE)
        return "an installation starts both, and an upgrade restarts the service"

    def activate(self):
        systemctl("stop", SOCKET, SERVICE)
        os.makedirs(os.path.dirname(CERTIFICATE), exist_ok=True)
        make_certificate("first")
        os.makedirs(os.path.dirname(OPTIONS), exist_ok=True)
        write(OPTIONS, "[Service]\nEnvironment=\"SCREENRELAY_HOST_OPTIONS=--log info --tls-cert %s --tls-key %s\"\n" % (
            CERTIFICATE, KEY))
        systemctl("daemon-reload")
        systemctl("start", SOCKET)
        require(is_active(SOCKET) and not is_active(SERVICE), "the socket doesn't wait for a connection")
        begun = time.monotonic()
        with socket.create_connection(ADDRESS, timeout=LIMIT) as connection:
            with trust().wrap_socket(connection) as encrypted:
                encrypted.sendall(b"GET /healthz HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n" % (
                    ADDRESS[0].encode(), ADDRESS[1]))
                answer = encrypted.recv(4096).split(b"\r\n")[0].decode(errors="replace")
        took = time.monotonic() - begun
        require(" 204" in answer, "the answer is '%s'" % answer)
        wait_until(lambda: is_active(SERVICE), LIMIT, "the service's start")
        return "the first request started the service (Type=%s), and was answered after %.2f s" % (show("Type"), took)

    def watch(self):
        self.capture = Talker([*AS_HOST, "screenrelay", "capture", "--display", self.display.name], self.folder)
        words = output(*AS_HOST, "screenrelay", "link").split()
        self.link = next((word for word in words if word.startswith("https://") and "/#" in word), None)
        require(self.link, "no invite link: %s" % words)
        self.crowd.watch(lambda: [self.crowd.add(self.link) for _ in range(VIEWERS)])
        return "%d get frames of the display" % VIEWERS

    def restart(self):
        before = show("MainPID")
        with Knocking() as knocking:
            gap = self.crowd.watch(lambda: systemctl("restart", SERVICE))
        require(show("MainPID") != before, "the process is still the same")
        return "%s, and all viewers got frames again: at most %.1f s without one" % (knocking.result(), gap)

    def crash(self):
        before = int(show("NRestarts"))
        with Knocking() as knocking:
            gap = self.crowd.watch(lambda: self._kill(int(show("MainPID"))))
        count = int(show("NRestarts")) - before
        require(count == 1, "systemd restarted it %d times" % count)
        return "systemd restarted the service, %s, and all viewers got frames again: at most %.1f s without one" % (
            knocking.result(), gap)

    @staticmethod
    def _kill(process):
        os.kill(process, signal.SIGKILL)
        wait_until(lambda: not os.path.exists("/proc/%d" % process), LIMIT, "the process's end")

    def reload(self):
        old, process, joins = served(), show("MainPID"), self.crowd.joins()
        new = make_certificate("second")
        systemctl("reload", SERVICE)
        wait_until(lambda: served() == new, LIMIT, "the new certificate")
        gap = self.crowd.watch(lambda: None)
        require(old != new and show("MainPID") == process, "the process is another one")
        require(self.crowd.joins() == joins, "%d viewers joined again" % (self.crowd.joins() - joins))
        return "a new connection gets the new certificate, and all viewers stayed: at most %.1f s without a frame" % gap

    def memory(self):
        process, limit = int(show("MainPID")), show("MemoryMax")
        old = self.crowd.viewers[:]
        joins, count, new = self.crowd.joins(), 0, None

        def is_gone():
            return not os.path.exists("/proc/%d" % process)

        with ShortMemory(process, limit) as has_effect:
            if not has_effect:
                return "MemoryMax=%s has no effect here: systemd has no memory controller" % limit
            try:
                while count < MORE and not (new and new.refusal):
                    new, count = self.crowd.add(self.link), count + 1
                    wait_until(lambda: new.last or new.refusal or is_gone(), LIMIT, "a frame or a refusal")
                    require(not is_gone(), "the kernel killed the host at viewer %d" % (VIEWERS + count))
                require(new.refusal, "the host served %d viewers" % (VIEWERS + count))
                require(new.code == FULL, "viewer %d was refused with %s" % (VIEWERS + count, new.code))
                self.crowd.keep(VIEWERS + count - 1)
                gap = self.crowd.watch(lambda: None)
            finally:
                self.crowd.keep(VIEWERS)
        require(int(show("MainPID")) == process and not is_gone(), "the process is another one")
        require(sum(viewer.joins for viewer in old) == joins, "the first %d had to join again" % VIEWERS)
        return ("the unit has MemoryMax=%s; limited to %d MiB more than it used, the host refused viewer %d (%s), and "
                "the others stayed: at most %.1f s without a frame" % (
                    limit, LEFT >> 20, VIEWERS + count, new.refusal, gap))

    def security(self):
        said = output("systemd-analyze", "security", "--no-pager", "--threshold=%d" % EXPOSURE, SERVICE)
        return said.splitlines()[-1].lstrip("→ ")

    def journal(self):
        write(CERTIFICATE, "")
        systemctl("reload", SERVICE)
        wait_until(lambda: LEVELS[3] in self._levels(), LIMIT, "an error about the empty certificate in the journal")
        levels = self._levels()
        require(LEVELS[6] in levels, "no line has the level info: %s" % dict(levels))
        require(self.capture.child.poll() is None, "the capture has ended: " + self.capture.last_words())
        return "lines of the host: " + ", ".join("%d %s" % (count, level) for level, count in sorted(levels.items()))

    @staticmethod
    def _levels():
        """How many of the host's lines the journal has, by their levels."""
        lines = output("journalctl", "--no-pager", "--boot", "--unit", SERVICE, "--identifier", "screenrelay",
                       "--output", "json").splitlines()
        entries = [json.loads(line) for line in lines]
        # Both are strings; a message that isn't UTF-8 is a list of bytes.
        require(not any(str(one["MESSAGE"]).startswith("<") for one in entries), "a line begins with its level")
        return collections.Counter(LEVELS.get(int(one["PRIORITY"]), one["PRIORITY"]) for one in entries)

    def close(self):
        self.crowd.keep(0)
        if self.capture:
            self.capture.stop()


def main():
    with tempfile.TemporaryDirectory() as folder, Display((640, 480), folder, ["-ac"]) as display:
        # The user that runs the capture can't read the folder, but has to be in one.
        os.chmod(folder, 0o711)
        paint = "while :; do for colour in red blue; do xsetroot -solid $colour; sleep 0.2; done; done"
        log = os.path.join(folder, "painter.log")
        painter = Process("painter", ["sh", "-c", paint], log, {"DISPLAY": display.name})
        test = Test(folder, display)
        try:
            is_right = test.run()
        finally:
            test.close()
            painter.stop()
    if not is_right:
        print(output("journalctl", "--no-pager", "--boot", "--unit", SERVICE, "--lines", "30"), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
