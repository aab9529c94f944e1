"""Network namespaces: one for the host, and one for each viewer at the other end of a path."""

import concurrent.futures
import ctypes
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time

from .processes import Failure, Process

CLONE_NEWNET = 0x40000000
TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2"}


def obstacle():
    """Why there can be no paths on this machine; None if there can."""
    problem = namespace_obstacle(TOOLS)
    if not problem and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        problem = "/dev/net/tun can't be opened"
    return problem


def namespace_obstacle(tools):
    """Why there can be no network namespaces on this machine, or which of these tools is missing; None if all is there.

    `tools` has the Debian package of each.
    """
    if os.geteuid() != 0:
        return "network namespaces and their devices need root"
    for tool, package in tools.items():
        if not shutil.which(tool):
            return "%s (Debian: %s) is missing; Tools/setup installs it" % (tool, package)
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
        return "unshare -n is refused"
    return None


class _Held:
    """A process that keeps something as long as its standard input is open."""

    def __init__(self, name, command, log_path):
        self.process = Process(name, command, log_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._output = b""
        try:
            if self.read_line(10) != b"ready":
                raise Failure("%s did not start: %s" % (name, self.process.last_words()))
        except BaseException:
            self.close()
            raise

    def read_line(self, seconds):
        deadline, output = time.monotonic() + seconds, self.process.child.stdout
        while b"\n" not in self._output:
            ready, _, _ = select.select([output], [], [], max(0, deadline - time.monotonic()))
            data = os.read(output.fileno(), 1 << 16) if ready else b""
            if not data:
                self.process.require_running()
                raise Failure("%s did not answer within %g s" % (self.process.name, seconds))
            self._output += data
        line, self._output = self._output.split(b"\n", 1)
        return line

    def close(self):
        self.process.stop()

    @property
    def prefix(self):
        """The command that runs another one in this namespace."""
        return ["nsenter", "--target", str(self.process.pid), "--net", "--"]

    def connect(self, address):
        """A TCP connection to (host, port), made in this namespace; an OSError if there is none within 5 s."""
        # A namespace is a thread's own, and a socket stays in that of the thread that has made it.
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            return thread.submit(self._connect, address).result()

    def _connect(self, address):
        with open("/proc/%d/ns/net" % self.process.pid) as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        return socket.create_connection(address, timeout=5)


class Namespace(_Held):
    """A network namespace that has nothing but loopback, without IPv6."""

    def __init__(self, name, log_path):
        script = ("ip link set lo up; for name in all default; do echo 1 >/proc/sys/net/ipv6/conf/$name/disable_ipv6; "
                  "done 2>/dev/null; echo ready; exec cat")
        super().__init__(name, ["unshare", "-n", "sh", "-c", script], log_path)

    def run(self, *command, text=""):
        """Runs a command in it, with `text` as its standard input. Gives what it prints."""
        result = subprocess.run([*self.prefix, *command], input=text, capture_output=True, text=True, timeout=30)
        if result.returncode != 0:
            raise Failure("%s: %s: %s" % (self.process.name, " ".join(command), result.stderr.strip()))
        return result.stdout


class HostNetwork(Namespace):
    """The host's network namespace."""

    def __init__(self, folder):
        super().__init__("the host's network", os.path.join(folder, "host-network.log"))


class Path(_Held):
    """The path between the host and one viewer, and that viewer's network namespace."""

    def __init__(self, host, number, seed, folder):
        self.number = number
        command = [sys.executable, "-m", "bench_kit.forwarder", str(number), str(seed)]
        super().__init__("path %d" % number, host.prefix + command, os.path.join(folder, "path-%d.log" % number))

    @property
    def host_address(self):
        return "10.77.%d.1" % self.number

    @property
    def viewer_address(self):
        return "10.77.%d.2" % self.number

    def change(self, at, phase, down, up):
        """Changes the path at a time of CLOCK_MONOTONIC, in seconds; to be called in the order of these times."""
        self._tell({"at": at, "phase": phase, "down": down, "up": up})

    def report(self):
        self._tell({"report": True})
        return json.loads(self.read_line(10))

    def _tell(self, message):
        try:
            self.process.child.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.child.stdin.flush()
        except OSError:
            self.process.require_running()
            raise
