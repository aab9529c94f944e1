"""Pushes a share to a tree of servers, and kills some of them; see --help."""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from capture_bench.display import Display
from capture_bench.options import Parser
from capture_bench.processes import TROUBLE, Missing, Process, wait_until
from publish_bench import janus
from viewers_bench.recording import environment, read

from .servers import START, Server, WHIPServer, cascade, require_all

SIZE = (1280, 720)
#: Milliseconds from being connected to a picture, at most.
LIMIT = 500
#: Seconds for which a server is away, and until its death and its return must have been noticed.
AWAY, NOTICED, RETURN = 3, 10, 60


class Share:
    """A scrolled text that is pushed to these URLs."""

    def __init__(self, program, folder, urls):
        self.program, self.own, self.started = program, environment(folder), []
        try:
            self.display = Display(SIZE, folder)
            self.started.append(self.display.process)
            log = os.path.join(folder, "scene.log")
            self.started.append(Process(
                "scene", [program("screenrelay-scene"), "--display", self.display.name, "--scene", "scroll"], log))
            wait_until(lambda: "ready" in read(log), START, "the scene")
            pushes = [word for url in urls for word in ("--push", url, "--preset", "only=pictures")]
            # Its output is a file, because nothing would empty a pipe.
            self.process = Process("share", [
                program("screenrelay"), "share", "--no-config", "--display", self.display.name, "--lan", "--listen",
                janus.own_address() + ":0", "--udp-port", "0", "--push-tries", "3", *pushes],
                os.path.join(folder, "share.log"), self.own)
            self.started.append(self.process)
        except BaseException:
            self.close()
            raise

    def ask(self, *words):
        """What a command of screenrelay prints about the share."""
        self.process.require_running()
        result = subprocess.run([self.program("screenrelay"), *words, "--pid", str(self.process.pid)], timeout=20,
                                env={**os.environ, **self.own}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return result.stdout.decode(errors="replace")

    def pushes(self):
        """The states by the pushes' numbers, as the status has them."""
        try:
            return {one["id"]: one["state"] for one in json.loads(self.ask("status", "--json")).get("pushes", [])}
        except ValueError:
            return {}  # it doesn't answer yet

    def wait_until_connected(self, number, seconds):
        wait_until(lambda: self.pushes().get(number) == "connected", seconds, "the connection of push %d" % number)

    def line(self, number):
        """What the status says to people about a push that isn't connected; None if it says nothing of the kind."""
        begin = "push %d " % number
        parts = [part for line in self.ask("status").splitlines() for part in line.split("; ")]
        return next((part for part in parts if part.startswith(begin) and not part.endswith(": connected")), None)

    def close(self):
        for process in reversed(self.started):
            process.stop()


class Soak:
    def __init__(self, options, folder):
        self.options, self.is_good = options, True
        self.stack = contextlib.ExitStack()
        try:
            self.alone, self.whip, self.third = (self.keep(Server(name, folder)) for name in ("alone", "whip", "third"))
            front = self.keep(WHIPServer(self.whip, folder))
            self.share = self.keep(Share(self.program, folder, [self.alone.push, front.push]))
            for number in (1, 2):
                self.share.wait_until_connected(number, RETURN)
            cascade(self.whip, self.third)
        except BaseException:
            self.close()
            raise

    def program(self, name):
        return os.path.join(os.path.abspath(self.options.programs), name)

    def keep(self, one):
        self.stack.callback(one.close)
        return one

    def close(self):
        self.stack.close()

    def judge(self, is_good, text):
        self.is_good = self.is_good and is_good
        print(text + ("" if is_good else "  <- not as it should be"), flush=True)

    def join(self, server):
        found = [server.join_decoder()]
        server.open()
        for _ in range(self.options.viewers - 1):
            # Not a wait for anything: they are so far apart.
            time.sleep(self.options.apart)
            found.append(server.join_receiver())
        time.sleep(self.options.apart)
        self.judge(max(found) <= LIMIT, "%-5s  %d viewers, a picture %s ms after being connected; median %.0f, at most "
                   "%.0f" % (server.name, len(found), ", ".join("%.0f" % one for one in found),
                             statistics.median(found), max(found)))

    def outage(self, number, server, behind, others):
        """`behind` gets its pictures from `server`, and `others` don't."""
        before = [one.look() for one in others]
        server.janus.kill()
        killed, lines = time.monotonic(), []

        def is_told():
            lines.append(self.share.line(number))
            return lines[-1] is not None

        wait_until(is_told, NOTICED, "a status that names the killed server")
        print("%-5s  killed; %.1f s later the status says: %s" % (
            server.name, time.monotonic() - killed, lines[-1]), flush=True)
        for one in (server, *behind):
            one.send_viewers_away()
        # Not a wait for anything: it is away for so long.
        time.sleep(max(0.0, killed + AWAY - time.monotonic()))
        server.janus.start()
        ready = server.janus.wait_until_ready(START)
        self.share.wait_until_connected(number, RETURN)
        print("%-5s  the push is connected again %.1f s after the server could be reached" % (
            server.name, time.monotonic() - ready), flush=True)
        for one, (frames, missing) in zip(others, before):
            now, lost = one.look()
            new = [after - then for then, after in zip(frames, now)]
            # At each of the two looks, one viewer may have got frames of 0.1 s that are still on their way to another.
            self.judge(lost == missing and min(new) > 0 and max(new) - min(new) <= 6,
                       "%-5s  meanwhile: %d to %d frames for each viewer, %d packets missing" % (
                           one.name, min(new), max(new), lost - missing))
        if behind:
            cascade(server, behind[0])
        for one in (server, *behind):
            self.join(one)

    def run(self):
        for server in (self.alone, self.whip, self.third):
            self.join(server)
        self.outage(1, self.alone, [], [self.whip, self.third])
        self.outage(2, self.whip, [self.third], [self.alone])
        return 0 if self.is_good else 1


def main():
    parser = Parser(
        prog="Tools/soak tree",
        description="Pushes one share to a Janus (alone) and to simple-whip-server in front of another Janus (whip), "
        "whose publisher a third Janus (third) shows as a remote publisher. Viewers join at each, one after another: "
        "the first decodes with aiortc, the others wait for the first packet of a key frame, and count packets. Then "
        "alone and whip are killed and started again. Takes about two minutes.",
        epilog="exit codes: 0 every viewer had a picture within %d ms of being connected, the status named each killed "
        "server, the viewers elsewhere missed nothing, and the push was back; 1 not so; 64 usage; 69 something that is "
        "needed is missing." % LIMIT)
    parser.add_argument("viewers", nargs="?", type=int, default=5, help="at each server, at least 2 (5)")
    parser.add_argument("--programs", metavar="FOLDER", required=True,
                        help="where screenrelay and the others are (Tools/soak tree alone builds them)")
    parser.add_argument("--apart", type=float, default=2.5, metavar="SECONDS",
                        help="time between two joins (2.5): a server gets at most one key frame in 2 s")
    options = parser.parse_args()
    if options.viewers < 2 or not 0 <= options.apart <= 60:
        parser.error("at least 2 viewers, and 0 to 60 s between two joins")
    # Sockets go into it, and their paths are short by law (108 bytes).
    folder, soak = tempfile.mkdtemp(prefix="tree"), None
    try:
        require_all()
        soak = Soak(options, folder)
        return soak.run()
    except Missing as error:
        print("tree: %s" % error, file=sys.stderr)
        return 69
    except TROUBLE as error:
        print("tree: %s" % error, file=sys.stderr)
        return 1
    finally:
        if soak:
            soak.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
