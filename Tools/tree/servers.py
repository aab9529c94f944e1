"""The servers of the tree, and who watches at each."""

import http.client
import json
import os
import shutil
import socket
import subprocess

from capture_bench.bench import REPOSITORY
from capture_bench.processes import Failure, Missing, Process, wait_until
from publish_bench import client, janus
from publish_bench.client import PYTHON, Client

MODULES = os.path.join(REPOSITORY, ".build", "simple-whip-server", "usr")
PROGRAM = os.path.join(MODULES, "share", "simple-whip-server", "src")
#: Seconds until a server runs, and until a viewer must have its first picture.
START, PICTURE = 20, 15
#: The bit rate at most that a room asks its publisher for.
BIT_RATE = 20_000_000
ENDPOINT, TOKEN = "desk", "Sesam"


def require_all():
    problem = client.missing() or janus.missing()
    if not problem and not os.path.isdir(PROGRAM):
        problem = "simple-whip-server is missing; Tools/setup --bench unpacks it"
    if not problem and not shutil.which("node"):
        problem = "node is missing; Tools/setup installs it"
    if problem:
        raise Missing(problem)


class Server:
    """A Janus, whose viewers are a program that decodes, and one with receivers that count packets."""

    def __init__(self, name, folder):
        self.name, self.folder = name, os.path.join(folder, name)
        os.makedirs(self.folder)
        # simple-whip-server sends no tokens.
        self.janus, self.viewers, self.count = janus.Janus(self.folder, BIT_RATE, has_tokens=False), [], 0
        self.crowd = None
        self.janus.start()
        try:
            self.janus.wait_until_ready(START)
        except BaseException:
            self.close()
            raise

    @property
    def url(self):
        return "ws://127.0.0.1:%d" % self.janus.port

    @property
    def push(self):
        return "janus:%s#%d,%s" % (self.url, janus.ROOM, janus.PIN)

    def join_decoder(self):
        """Gives milliseconds from being connected to the first decoded picture."""
        decoder = self._start("decoder", ["publish_bench.subscriber", self.url, janus.own_address()])
        connected = decoder.wait_for("connected", PICTURE)
        return 1000 * (decoder.wait_for("pictures", PICTURE) - connected)

    def open(self):
        """Starts the program of the receivers, without any."""
        self.crowd = self._start("receivers", ["scale_bench.receivers", janus.own_address(), "janus", self.url])
        self.crowd.wait_for("ready", START)

    def join_receiver(self):
        """Gives milliseconds from being connected to the first packet of a key frame."""
        joined = self.crowd.ask("join 1", PICTURE)
        return joined["first"][0] - joined["connected"][0]

    def look(self):
        """What the receivers have got so far: the frames of each, and the packets that are missing."""
        told = self.crowd.ask("tell", START)
        return told["frames"], told["missing"]

    def send_viewers_away(self):
        while self.viewers:
            self.viewers.pop().close()

    def close(self):
        self.send_viewers_away()
        self.janus.close()

    def _start(self, name, words):
        self.count += 1
        program = Client("%s-%d" % (name, self.count), ["-m", *words, str(janus.ROOM), janus.PIN, ""], self.folder)
        self.viewers.append(program)
        return program


class WHIPServer:
    """simple-whip-server, with an endpoint that publishes into the room of a Janus."""

    def __init__(self, server, folder):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        own = os.path.join(folder, "simple-whip-server")
        os.makedirs(own)
        # It reads its configuration next to its program.
        for name in ("server.js", "whip-janus.js"):
            shutil.copy(os.path.join(PROGRAM, name), own)
        with open(os.path.join(own, "config.js"), "w") as file:
            file.write("module.exports = %s;\n" % json.dumps({
                "janus": {"address": server.url}, "port": self.port, "rest": "/whip", "allowTrickle": True,
                "strictETags": False, "iceServers": []}))
        # Modules of Debian's packages, unpacked or installed.
        paths = [os.path.join(root, *words) for root in (MODULES, "/usr")
                 for words in (["share", "nodejs"], ["lib", "x86_64-linux-gnu", "nodejs"])]
        self.process = Process("simple-whip-server", ["node", os.path.join(own, "server.js")],
                               os.path.join(own, "whip.log"), {"NODE_PATH": ":".join(paths), "DEBUG": "whip:*,janus:*"})
        try:
            wait_until(lambda: self._ask("GET", "healthcheck") == 200, START, "simple-whip-server's start")
            endpoint = {"id": ENDPOINT, "room": janus.ROOM, "pin": janus.PIN, "token": TOKEN}
            if self._ask("POST", "create", json.dumps(endpoint)) != 200:
                raise Failure("simple-whip-server makes no endpoint: " + self.process.last_words())
        except BaseException:
            self.close()
            raise

    @property
    def push(self):
        return "whip:http://%s@127.0.0.1:%d/whip/endpoint/%s" % (TOKEN, self.port, ENDPOINT)

    def close(self):
        self.process.stop()

    def _ask(self, method, path, body=None):
        """Gives the status; None where nobody listens yet."""
        self.process.require_running()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request(method, "/whip/" + path, body, {"Content-Type": "application/json"})
            return connection.getresponse().status
        except OSError:
            return None
        finally:
            connection.close()


def cascade(source, target):
    """Has one Janus show the other one's publisher."""
    result = subprocess.run(
        [PYTHON, "-m", "tree.cascade", source.url, target.url, str(janus.ROOM), janus.PIN], timeout=60,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise Failure("the remote publisher: " + result.stdout.decode(errors="replace").strip()[-400:])
