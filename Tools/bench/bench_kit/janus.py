"""The real Janus, with a room of its VideoRoom plugin behind a WebSocket of this machine alone."""

import base64
import hashlib
import hmac
import os
import socket
import time
from urllib.parse import quote

from .bench import REPOSITORY
from .client import Client
from .processes import Failure, Process, free_port

ROOT = os.path.join(REPOSITORY, ".build", "janus", "usr")
PROGRAM = os.path.join(ROOT, "bin", "janus")
LIBRARIES = os.path.join(ROOT, "lib", "x86_64-linux-gnu")

ROOM, PIN = 1234, "sesame"
PLUGIN = "janus.plugin.videoroom"
#: Signs the tokens, which are good after each new start then.
SECRET = "open sesame"

CONFIGURATION = {
    "janus.jcfg": """
general: {
    configs_folder = "%(folder)s"
    plugins_folder = "%(libraries)s/janus/plugins"
    transports_folder = "%(libraries)s/janus/transports"
    events_folder = "%(libraries)s/janus/events"
    loggers_folder = "%(libraries)s/janus/loggers"
    debug_level = 4
    admin_secret = "%(secret)s"
    token_auth = %(has_tokens)s
    token_auth_secret = "%(secret)s"
    event_loops = %(loops)d
}
nat: {
    ice_enforce_list = "%(address)s"
    ice_lite = %(is_lite)s
}
plugins: { disable = "%(other_plugins)s" }
transports: { disable = "%(other_transports)s" }
""",
    "janus.transport.websockets.jcfg": """
general: {
    json = "compact"
    ws = true
    ws_port = %(port)d
    ws_ip = "127.0.0.1"
    wss = false
}
""",
    "janus.plugin.videoroom.jcfg": """
room-%(room)d: {
    description = "Desk"
    pin = "%(pin)s"
    publishers = 6
    bitrate = %(bit_rate)d
    videocodec = "h264"
}
""",
}


def missing():
    """What is missing for a measurement; None if nothing is."""
    if not os.access(PROGRAM, os.X_OK):
        return "Janus is missing; Tools/setup --bench unpacks it"
    if not own_address():
        return "Janus takes no loopback address for its media, and this machine has no other IPv4 address"
    return None


def own_address():
    """The IPv4 address of this machine that packets to others come from; None if there is none but loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            # An address for documents (RFC 5737); nothing is sent.
            one.connect(("203.0.113.1", 9))
        except OSError:
            return None
        address = one.getsockname()[0]
    return None if address.startswith("127.") else address


def token(secret=SECRET):
    """A token as Janus wants it: for how long, for whom, for which plugin, and the signature."""
    words = "%d,janus,%s" % (time.time() + 86_400, PLUGIN)
    return words + ":" + base64.b64encode(hmac.digest(secret.encode(), words.encode(), hashlib.sha1)).decode()


class Janus:
    """A Janus that can be killed and started again at the same port."""

    def __init__(self, folder, bit_rate, prefix=(), has_tokens=True, is_lite=False, loops=0):
        """`prefix`: the words before its own on the command line. `is_lite`: whoever connects chooses the path.
        `loops`: the threads for the media of all; 0: a thread for each."""
        self.prefix, self.folder = list(prefix), os.path.join(folder, "janus")
        os.makedirs(self.folder)
        self.port = free_port()
        own = {"folder": self.folder, "libraries": LIBRARIES, "secret": SECRET, "address": own_address(),
               "port": self.port, "room": ROOM, "pin": PIN, "bit_rate": bit_rate, "loops": loops,
               "has_tokens": str(has_tokens).lower(), "is_lite": str(is_lite).lower(),
               "other_plugins": _others("plugins", "videoroom"),
               "other_transports": _others("transports", "websockets")}
        for name, text in CONFIGURATION.items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text % own)
        self.process, self._starts = None, 0

    @property
    def url(self):
        return "ws://127.0.0.1:%d" % self.port

    def push(self, token="", pin=PIN):
        """The URL to which a share pushes."""
        return "janus:ws://%s127.0.0.1:%d#%d,%s" % (token and quote(token, safe="") + "@", self.port, ROOM, pin)

    def subscriber(self, name, token="", decodes=True):
        """A subscriber of the room; see `subscriber`."""
        return Client(name, ["-m", "bench_kit.subscriber", self.url, own_address(), str(ROOM), PIN, token]
                      + ["count"] * (not decodes), os.path.dirname(self.folder))

    def gateway(self, token, seconds=45):
        """WHEP in front of the room, once it has a publisher: a client of `gateway`, and its origin. Janus has to be
        ICE-lite."""
        client = Client("gateway", ["-m", "bench_kit.gateway", self.url, str(ROOM), PIN, token],
                        os.path.dirname(self.folder))
        try:
            return client, client.origin(seconds)
        except BaseException:
            client.close()
            raise

    def start(self):
        self._starts += 1
        self.process = Process("janus", [*self.prefix, PROGRAM, "-F", self.folder],
                               os.path.join(self.folder, "janus-%d.log" % self._starts),
                               {"LD_LIBRARY_PATH": LIBRARIES})

    def wait_until_ready(self, seconds=20):
        """Waits until it takes connections; gives the time of CLOCK_MONOTONIC."""
        deadline = time.monotonic() + seconds
        while True:
            self.process.require_running()
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return time.monotonic()
            except OSError:
                if time.monotonic() > deadline:
                    raise Failure("Janus did not start within %g s: %s" % (seconds, self.process.last_words()))
            time.sleep(0.005)

    def kill(self):
        self.process.child.kill()
        self.process.stop()

    def close(self):
        if self.process:
            self.process.stop()


def _others(kind, wanted):
    """The names of all plugins or transports but one, so that Janus doesn't load them."""
    names = os.listdir(os.path.join(LIBRARIES, "janus", kind))
    return ",".join(sorted(name for name in names if name.endswith(".so") and wanted not in name))
