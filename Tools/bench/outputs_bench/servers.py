"""The servers that a share publishes to, each with one who decodes what it gets, and the URLs that they refuse."""

import os

from bench_kit import client, janus
from bench_kit.client import Client
from bench_kit.processes import free_port

#: Seconds in which a server, and who watches there, must have started.
START = 20


class JanusCourse:
    """The real Janus, and a subscriber that begins anew with each of its lives."""

    title = "Janus' VideoRoom"
    missing = staticmethod(lambda: client.missing() or janus.missing())

    def __init__(self, folder, bit_rate):
        self.server, token = janus.Janus(folder, bit_rate), janus.token()
        self.url = self.server.push(token)
        # It finds no path to a share whose media is on loopback.
        self.address = janus.own_address()
        #: What is wrong, the URL, and the reason that the share must give.
        self.refused = [
            ("a wrong PIN", self.server.push(token, "wrong"),
             "the room refuses this publisher's token or PIN (433)"),
            ("a wrong token", self.server.push(janus.token("wrong")),
             "the server refuses this publisher's token or PIN (403)")]
        self.server.start()
        self.watching = None
        try:
            self.server.wait_until_ready(START)
            self.watching = self.server.subscriber("subscriber", token)
        except BaseException:
            self.close()
            raise

    def kill(self):
        self.server.kill()

    def start_again(self):
        """Gives the time when it took connections."""
        self.server.start()
        return self.server.wait_until_ready(START)

    def close(self):
        for one in (self.watching, self.server):
            if one:
                one.close()


class WHIPCourse:
    """The WHIP server of the tests, in Python with aiortc, which decodes what it gets itself."""

    title = "A WHIP server"
    address = None
    missing = staticmethod(client.missing)
    TOKEN = "Sesam"

    def __init__(self, folder, bit_rate):
        del bit_rate  # It sets no limit.
        self.folder, self.watching = folder, None
        self.port = free_port()
        url = "whip:http://%%s127.0.0.1:%d/whip" % self.port
        self.url = url % (self.TOKEN + "@")
        self.refused = [("a wrong token", url % "wrong@", "the server refuses the token (401)"),
                        ("no token", url % "", "the server wants a token (401)")]
        try:
            self.start_again()
        except BaseException:
            self.close()
            raise

    def kill(self):
        self.watching.close()

    def start_again(self):
        """Gives the time when it took connections."""
        self.watching = Client(
            "whip-server", [os.path.join(client.CLIENTS, "whip_server.py"), str(self.port), self.TOKEN], self.folder)
        return self.watching.wait_for("listening", START)

    def close(self):
        if self.watching:
            self.watching.close()


SERVERS = {"janus": JanusCourse, "whip": WHIPCourse}
