"""Has one Janus show the publisher of another one's room: usage: cascade FROM-URL TO-URL ROOM PIN.

In the environment of the tests' clients that Tools/python makes. What the second Janus still has of an earlier one is
removed. Both keep sending after this has ended.
"""

import sys
import time

from bench_kit.doors import JanusDoor, Refused

#: Seconds until a publisher must have come or gone, and between two looks.
TIMEOUT, PAUSE = 10, 0.05
#: What WebRTC publishers of the share have: one video, the first section of their offer.
STREAMS = [{"type": "video", "codec": "h264", "mid": "0", "mindex": 0}]


def wait_for_publisher(door, handle, is_there):
    end = time.monotonic() + TIMEOUT
    while True:
        found = door.publisher(handle)
        if (found is not None) == is_there:
            return found
        if time.monotonic() > end:
            raise Refused("the publisher has not %s after %d s" % ("come" if is_there else "gone", TIMEOUT))
        time.sleep(PAUSE)


def main():
    source, target, room, pin = sys.argv[1:]
    here, there = JanusDoor(source, room, pin, ""), JanusDoor(target, room, pin, "")
    ours, theirs = here.attach(), there.attach()
    old = there.publisher(theirs)
    if old is not None:
        there.request(theirs, "remove_remote_publisher", id=old)
        wait_for_publisher(there, theirs, False)
    publisher = wait_for_publisher(here, ours, True)
    place = there.request(theirs, "add_remote_publisher", streams=STREAMS)
    here.request(ours, "publish_remotely", publisher_id=publisher, remote_id="third", host="127.0.0.1",
                 port=place["port"], rtcp_port=place["rtcp_port"])
    wait_for_publisher(there, theirs, True)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(str(refused))
