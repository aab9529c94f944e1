"""A share with outputs: how it is started, and what it says of them."""

import copy

from .processes import wait_until
from .room import Room


def share(bench, options, scene, seconds, folder, bit_rate, network=None, **more):
    """A room whose share has these options; its scene stands still until it is started. See `Room` for the rest."""
    # A room takes the options of its share from the bench's.
    bench = copy.copy(bench)
    bench.options = copy.copy(bench.options)
    bench.options.share = options
    return Room(bench, scene, scene.ticks(seconds), network, folder, bit_rate, **more)


def pushes(room):
    """What each push does now; see Protocol/control.md."""
    return (room.ask("push-list") or {}).get("pushes", [])


def wait_until_connected(room, count):
    def are_connected():
        room.share.require_running()
        return sum(one["state"] == "connected" for one in pushes(room)) == count

    wait_until(are_connected, 30, "the connection of %d pushes" % count)
