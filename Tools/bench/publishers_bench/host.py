"""The host, on a processor of its own, to which programs publish over RTMP, SRT and RTSP."""

import json
import os
from urllib.parse import quote

from bench_kit.processes import Process, free_port, own_settings, read, wait_until
from bench_kit.replaying import metrics, pinned, threads

PROTOCOLS = ["rtmp", "srt", "rtsp"]
#: A room has 16 tracks at most.
ROOMS = ["screen", "second"]


class Host:
    """A host without captures. Its rooms are open, so that players need no token.

    `core` is its processor, or None for any, and `more` are further options.
    """

    def __init__(self, program, core, folder, more=()):
        self.log = os.path.join(folder, "host.log")
        # With --json, it doesn't print the ports.
        self.ports = {name: free_port(is_datagram=name == "srt") for name in PROTOCOLS}
        words = [*more, "--no-config", "--json", "--open", "--presenters", "--listen", "127.0.0.1:0", "--udp-port", "0",
                 "--link", "unix:" + os.path.join(folder, "a"),
                 "--track", "%s/idle=unix:%s" % (ROOMS[1], os.path.join(folder, "b"))]
        for name, port in self.ports.items():
            words += ["--" + name, "127.0.0.1:%d" % port]
        command = [program, "host", *words]
        self.process = Process(
            "host", command if core is None else pinned(core, command), self.log, own_settings(folder))
        try:
            wait_until(self._started, 20, "the host's start")
            event = self._started()
        except BaseException:
            self.close()
            raise
        self.link = event["links"][0]
        self.tokens = {room["name"]: room["presenting"]["token"] for room in event["rooms"]}

    def _started(self):
        """The event of its start (Protocol/control.md); None before."""
        self.process.require_running()
        text = read(self.log)
        for line in text[:text.rfind("\n") + 1].splitlines():
            if line.startswith("{"):
                event = json.loads(line)
                if event["event"] == "started":
                    return event
        return None

    def output(self, protocol, room, track=None):
        """What FFmpeg is given to publish into a track, or into the room's first one."""
        place, token = room + ("/" + track if track else ""), quote(self.tokens[room], safe="")
        address = "127.0.0.1:%d" % self.ports[protocol]
        return {"rtmp": ["-f", "flv", "rtmp://%s/live/%s?token=%s" % (address, place, token)],
                "srt": ["-f", "mpegts", "srt://%s?streamid=publish:%s,%s" % (address, place, token)],
                "rtsp": ["-f", "rtsp", "-rtsp_transport", "tcp",
                         "rtsp://presenter:%s@%s/%s" % (token, address, place)]}[protocol]

    def key(self, room):
        """The stream key that publishes into a room's first track."""
        return "%s,%s" % (room, quote(self.tokens[room], safe=""))

    def place(self, room, track=None):
        """Where players get a track: the port of RTSP, and the URL."""
        port = self.ports["rtsp"]
        return port, "rtsp://127.0.0.1:%d/%s" % (port, room + ("/" + track if track else ""))

    def metrics(self):
        return metrics(self.link)

    def threads(self):
        return threads(self.process.pid)

    def close(self):
        self.process.stop()
