"""Viewers whose video comes over TCP: RTSP players, and pages that get it over their WebSocket."""

#: The host's threads that send to them, and what they send.
THREADS = {"rtsp": ["rtsp"], "websocket": ["media", "signalling"]}
UNITS = {"rtsp": "packet", "websocket": "message"}


def words(by):
    """The words of bench-viewers for such viewers."""
    return ["stream", "--by", by]


def columns(by):
    return ["viewers", "host, % of a core", "µs per %s" % UNITS[by], "of that %s" % " and ".join(THREADS[by]),
            "whole pictures %: all, worst viewer", "spread p95 ms", "join p95 ms", "KiB per viewer",
            "bench-viewers: %"]


def row(one):
    return ["%d" % one["joined"], "%.1f" % one["host_percent"], "%.2f" % one["host_us"], "%.2f" % one["media_us"],
            "%.2f, %.2f" % (one["whole_percent"], one["whole_percent_worst"]), "%.1f" % one["spread_ms"]["p95"],
            "%.0f" % one["join_ms"]["p95"], "%.0f" % one["memory_kib"], "%.0f" % one["cpu_percent"]]


def note(by, one):
    """What is said below the table."""
    pictures = one["pictures"] * one["joined"]
    return "%.1f %ss per picture of %d bytes" % (
        one["packets"] / max(1, pictures), UNITS[by], round(one["bytes"] / one["packets"]))
