"""Records a real share, replays it, and compares when each message came."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from capture_bench.display import Display
from capture_bench.processes import TROUBLE, Failure, Missing, Process, wait_until

from .recording import connections

OK, MISSED, MISSING, FAILED = 0, 1, 69, 70
HOST = ["--listen", "127.0.0.1:0", "--udp-port", "0", "--log", "warning"]


def parse():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(
        prog="Tools/bench/replay",
        description="Records a share of the demonstration scene, sends the recording to another host that records what "
        "comes, and compares: the bytes of every message, and how far apart the messages are.")
    parser.add_argument("--seconds", type=float, default=60, help="how long to record (60)")
    parser.add_argument("--size", default="1280x720", help="of the screen (1280x720)")
    parser.add_argument("--scene", default="desktop", help="what is on it: a scene of screenrelay-scene (desktop)")
    parser.add_argument("--limit", type=float, default=5, help="milliseconds at the 99th percentile (5)")
    parser.add_argument("--programs", default=os.path.join(here, "../../../.build/release"), metavar="FOLDER",
                        help="where the built programs are (.build/release)")
    return parser.parse_args()


class Host:
    """`screenrelay host --record`, or `share --record` with the words for it."""

    def __init__(self, options, folder, name, words, environment=None):
        self.path = os.path.join(folder, name + ".srr")
        self.process = Process(
            name, [os.path.join(options.programs, "screenrelay"), *words, "--record", self.path, *HOST],
            os.path.join(folder, name + ".log"), environment=environment)

    def finish(self):
        self.process.stop(signal.SIGINT)
        if self.process.child.returncode != 0:
            raise Failure("%s ended with %d: %s" % (
                self.process.name, self.process.child.returncode, self.process.last_words()))


def record(options, folder):
    """Shares the scene for so long; gives the recording's path."""
    width, height = options.size.split("x")
    with Display((int(width), int(height)), folder) as display:
        scene = Process("scene", [os.path.join(options.programs, "screenrelay-scene"), "--display", display.name,
                                  "--scene", options.scene], os.path.join(folder, "scene.log"))
        try:
            share = Host(options, folder, "share", ["share", "--display", display.name])
            try:
                # Not a wait for anything: it is the length of the recording.
                time.sleep(options.seconds)
                share.process.require_running()
            finally:
                share.finish()
        finally:
            scene.stop()
    return share.path


def replay(options, folder, path):
    """Sends the recording to a host; gives the path of what arrived."""
    socket = os.path.join(folder, "s")
    host = Host(options, folder, "host", ["host", "--link", "unix:" + socket])
    try:
        wait_until(lambda: os.path.exists(socket), 10, "the host's socket")
        result = subprocess.run(
            [os.path.join(options.programs, "screenrelay"), "replay", "--link", "unix:" + socket, path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=options.seconds + 60)
        if result.returncode != 0:
            raise Failure("replay ended with %d: %s" % (result.returncode, result.stdout.strip()))
        print(result.stdout.strip())
    finally:
        host.finish()
    return host.path


def compare(options, before, after):
    """Prints the percentiles; gives the exit code."""
    if len(before) != 1 or len(after) != 1:
        raise Failure("%d connections were recorded and %d arrived; one is wanted" % (len(before), len(after)))
    before, after = before[0], after[0]
    if [one.data for one in before] != [one.data for one in after]:
        raise Failure("what arrived is not what was recorded: %d messages, %d" % (len(before), len(after)))
    if not before:
        raise Failure("nothing was recorded")
    # When a replay begins is nobody's business: what counts is how far each message is from where the others put it.
    delays = sorted(there.arrival - here.arrival for here, there in zip(before, after))
    common = delays[len(delays) // 2]
    late = sorted(abs(delay - common) / 1e6 for delay in delays)

    def percentile(share):
        return late[min(len(late) - 1, int(len(late) * share))]

    print("%d messages, %d bytes in %.1f s, byte for byte the same" % (
        len(before), sum(one.length for one in before), (before[-1].arrival - before[0].arrival) / 1e9))
    first = (after[0].arrival - before[0].arrival - common) / 1e6
    print("off by p50 %.3f ms, p95 %.3f ms, p99 %.3f ms, at most %.3f ms; the first message by %.3f ms" % (
        percentile(0.5), percentile(0.95), percentile(0.99), late[-1], first))
    if percentile(0.99) > options.limit:
        print("missed: p99 above %g ms" % options.limit)
        return MISSED
    return OK


def main():
    options = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = tempfile.mkdtemp(prefix="replay-bench-")
    try:
        recorded = record(options, folder)
        return compare(options, connections(recorded), connections(replay(options, folder, recorded)))
    except Missing as error:
        sys.stderr.write("Tools/bench/replay: %s\n" % error)
        return MISSING
    except (*TROUBLE, ValueError) as error:
        sys.stderr.write("Tools/bench/replay: %s\n" % error)
        return FAILED
    except KeyboardInterrupt:
        return FAILED
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
