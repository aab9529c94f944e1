"""The servers of others at which both viewers watch: each gets a share of the host, and its endpoint is given."""

from bench_kit import client, janus
from bench_kit.client import Client
from bench_kit.processes import free_port
from viewers_bench.beside import BIT_RATE, START


class JanusServer:
    """A room of Debian's Janus, to which the host pushes. It makes the offers, so that WHEP needs a gateway."""

    title = "Janus"
    #: Whether Chromium answers offers of the server instead of making one.
    answers = True

    @staticmethod
    def missing():
        return client.missing() or janus.missing()

    def __init__(self, folder):
        self.folder, self.gateway = folder, None
        #: Janus takes no loopback address for its media.
        self.address = janus.own_address()
        # One thread for the media of all; ICE-lite, as the gateway wants it.
        self.server, self.token = janus.Janus(folder, BIT_RATE, is_lite=True, loops=1), janus.token()
        self.share_options = ["--push", self.server.push(self.token), "--preset", "only=pictures"]

    def start(self):
        """Before the share, which would only try again later."""
        self.server.start()
        self.server.wait_until_ready(START)

    def open(self, link):
        """Once the share has printed its link: waits until viewers can watch."""
        del link
        self.gateway, origin = self.server.gateway(self.token)
        self.whep, self.page_endpoint = origin + "/whep", origin + "/offer"

    def require_running(self):
        self.server.process.require_running()
        self.gateway.process.require_running()

    def close(self):
        if self.gateway:
            self.gateway.close()
        self.server.close()


class AiortcServer:
    """A WHEP server by aiortc, which plays the host's RTSP."""

    title = "aiortc"
    answers = False
    address = None
    missing = staticmethod(client.missing)

    def __init__(self, folder):
        self.folder, self.server = folder, None
        self.port = free_port()
        self.share_options = ["--rtsp", "127.0.0.1:%d" % self.port]

    def start(self):
        """Nothing runs before the share."""

    def open(self, link):
        room, _, token = link.split("#", 1)[1].partition(",")
        url = "rtsp://viewer:%s@127.0.0.1:%d/%s" % (token, self.port, room)
        self.server = Client("aiortc", ["-m", "latency_bench.view.aiortc_server", url], self.folder)
        self.whep = self.page_endpoint = self.server.origin(START) + "/whep"

    def require_running(self):
        self.server.process.require_running()

    def close(self):
        if self.server:
            self.server.close()


SERVERS = {"janus": JanusServer, "aiortc": AiortcServer}
