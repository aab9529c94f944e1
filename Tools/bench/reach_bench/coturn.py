"""coturn, as STUN and TURN server of the public net, and its tool that tells what a NAT does."""

import os
import re
import secrets
import shutil
import subprocess

from bench_kit.bench import REPOSITORY
from bench_kit.processes import Failure, Process, wait_until

from .routers import OTHER_SERVER, SERVER

#: Where `Tools/setup --bench` unpacks it, with the libraries that it alone needs.
_UNPACKED = os.path.join(REPOSITORY, ".build", "coturn", "usr")
_ENVIRONMENT = {"LD_LIBRARY_PATH": os.path.join(_UNPACKED, "lib", "x86_64-linux-gnu")}

#: What RFC 5780 calls the ways of a NAT: how it chooses ports, and whom it lets in.
_MAPPINGS = {"preserving": "Endpoint Independent", "random": "Address and Port Dependent"}
_FILTERING = "Address and Port Dependent"


def _program(name):
    return shutil.which(name, path=os.pathsep.join([os.path.join(_UNPACKED, "bin"), os.environ["PATH"]]))


def missing():
    """What is missing for a measurement; None if nothing is."""
    found = all(_program(name) for name in ("turnserver", "turnutils_natdiscovery"))
    return None if found else "coturn is missing; Tools/setup --bench unpacks it"


class TURNServer:
    """A server whose users' passwords come from a secret that it shares with the host."""

    def __init__(self, namespace, folder):
        secret = secrets.token_hex(32)
        self.secret_file = os.path.join(folder, "turn-secret")
        with open(os.open(self.secret_file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secret + "\n")
        options = ["listening-ip=" + SERVER, "listening-ip=" + OTHER_SERVER, "relay-ip=" + SERVER, "use-auth-secret",
                   "static-auth-secret=" + secret, "realm=turn.example.org", "no-cli", "no-tls", "no-dtls",
                   "no-multicast-peers", "log-file=stdout", "pidfile=" + os.path.join(folder, "turn.pid"),
                   "userdb=" + os.path.join(folder, "turn.sqlite")]
        self.process = Process(
            "coturn", [*namespace.prefix, _program("turnserver"), "-n", *("--" + option for option in options)],
            os.path.join(folder, "coturn.log"), _ENVIRONMENT)
        try:
            wait_until(lambda: self._has_started(namespace), 10, "coturn's start")
        except BaseException:
            self.close()
            raise

    @property
    def share_options(self):
        """The options by which a share tells viewers of the server, as Documentation/operating.md has them."""
        urls = ["turn:" + SERVER, "turn:%s?transport=tcp" % SERVER]
        return [word for url in urls for word in ("--ice-server", url)] + ["--ice-secret-file", self.secret_file]

    def close(self):
        self.process.stop()

    def _has_started(self, namespace):
        self.process.require_running()
        # Its log doesn't say when its ports are open.
        ports = namespace.run("cat", "/proc/net/tcp", "/proc/net/udp")
        return ports.count("%02X%02X%02X%02X:%04X" % (*map(int, reversed(SERVER.split("."))), 3478)) >= 2


class NATCheck:
    """Asks the server, from behind a NAT, what that NAT does."""

    def __init__(self, namespace, address, nat, folder):
        """`nat` is one of NATS, or None if no UDP gets through."""
        self.namespace = namespace
        self.wanted = {"Mapping": _MAPPINGS[nat], "Filtering": _FILTERING} if nat else {}
        # Neither the port of the host nor one of those that the kernel gives away.
        self.process = Process(
            "turnutils_natdiscovery",
            [*namespace.prefix, _program("turnutils_natdiscovery"), "-m", "-f", "-L", address, "-l", "5000", SERVER],
            os.path.join(folder, "nat-of-%s.log" % address), _ENVIRONMENT)

    def finish(self):
        """Waits for the result; a Failure if the NAT isn't as it should be."""
        try:
            self.process.child.wait(60)
        except subprocess.TimeoutExpired:
            raise Failure("turnutils_natdiscovery did not end within 60 s")
        with open(self.process.log_path, errors="replace") as file:
            found = dict(reversed(pair) for pair in re.findall(r"NAT with (.*) (Mapping|Filtering)!", file.read()))
        if found != self.wanted:
            raise Failure("%s isn't behind a NAT as asked: what is found of it is %s" % (
                self.namespace.process.name, found or "nothing"))

    def close(self):
        self.process.stop()
