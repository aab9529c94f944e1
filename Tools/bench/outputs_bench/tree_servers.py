"""The servers of the tree, and who watches at each."""

import http.client
import json
import os
import shutil
import subprocess

from bench_kit import client, janus
from bench_kit.bench import REPOSITORY
from bench_kit.client import PYTHON
from bench_kit.processes import Failure, Process, free_port, wait_until

MODULES = os.path.join(REPOSITORY, ".build", "simple-whip-server", "usr")
PROGRAM = os.path.join(MODULES, "share", "simple-whip-server", "src")
#: Seconds until a server runs, and until a viewer must have its first picture.
START, PICTURE = 20, 15
#: The bit rate at most that a room asks its publisher for.
BIT_RATE = 20_000_000
ENDPOINT, TOKEN = "desk", "Sesam"


def missing():
    """What is missing for a measurement; None if nothing is."""
    problem = client.missing() or janus.missing()
    if not problem and not os.path.isdir(PROGRAM):
        problem = "simple-whip-server is missing; Tools/setup --bench unpacks it"
    return problem or (None if shutil.which("node") else "node is missing; Tools/setup installs it")


class Server:
    """A Janus, whose first viewer decodes, and whose others count frames."""

    def __init__(self, name, folder):
        self.name, self.folder = name, os.path.join(folder, name)
        os.makedirs(self.folder)
        # simple-whip-server sends no tokens.
        self.janus, self.viewers, self.count = janus.Janus(self.folder, BIT_RATE, has_tokens=False), [], 0
        self.janus.start()
        try:
            self.janus.wait_until_ready(START)
        except BaseException:
            self.close()
            raise

    def join(self):
        """Gives milliseconds from being connected to the first decoded frame, or to the first packet of a key
        frame."""
        self.count += 1
        viewer = self.janus.subscriber("viewer-%d" % self.count, decodes=not self.viewers)
        self.viewers.append(viewer)
        connected = viewer.wait_for("connected", PICTURE)
        return 1000 * (viewer.wait_for("pictures", PICTURE) - connected)

    def look(self):
        """What the viewers that decode nothing have got so far: the frames of each, and the packets that are missing."""
        told = [one.ask("look", START) for one in self.viewers[1:]]
        return [one["pictures"] for one in told], sum(one["missing"] for one in told)

    def send_viewers_away(self):
        while self.viewers:
            self.viewers.pop().close()

    def close(self):
        self.send_viewers_away()
        self.janus.close()


class WHIPServer:
    """simple-whip-server, with an endpoint that publishes into the room of a Janus."""

    def __init__(self, server, folder):
        self.port = free_port()
        own = os.path.join(folder, "simple-whip-server")
        os.makedirs(own)
        # It reads its configuration next to its program.
        for name in ("server.js", "whip-janus.js"):
            shutil.copy(os.path.join(PROGRAM, name), own)
        with open(os.path.join(own, "config.js"), "w") as file:
            file.write("module.exports = %s;\n" % json.dumps({
                "janus": {"address": server.janus.url}, "port": self.port, "rest": "/whip", "allowTrickle": True,
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
        [PYTHON, "-m", "outputs_bench.cascade", source.janus.url, target.janus.url, str(janus.ROOM), janus.PIN], timeout=60,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise Failure("the remote publisher: " + result.stdout.decode(errors="replace").strip()[-400:])
