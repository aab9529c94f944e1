"""The arithmetic of the rows that were measured; limits and tables take it from here."""


def decoded(one):
    """The measured pictures of one viewer that were decoded without error, and their number. An older bench-viewers
    (--against) reports neither."""
    return one.get("decoded_pictures", 0), one.get("sampled_pictures", 0)


def floor_share(one):
    """Of the viewers that the floor with UDP_SEGMENT would carry in the same CPU time, those that the host does; in
    percent."""
    return 100 * one["floor_segmented_us"] / max(1e-3, one["media_us"])


def sendto_ratio(one):
    """The media threads' CPU time for each packet, divided by that of encryption and `sendto` alone."""
    return one["media_us"] / max(1e-3, one["floor_sendto_us"])


def per_viewer(one):
    """The host's CPU time for each viewer, in percent of a processor."""
    return one["host_percent"] / one["joined"]


def janus_ratio(host, server):
    """Janus' CPU time, divided by the host's."""
    return server["host_percent"] / max(1e-3, host["host_percent"])


def busiest_share(many):
    """The share of the work that the busiest media thread had, from 0 to 1."""
    return max(many["media_ns"]) / sum(many["media_ns"])


def carried(one, many):
    """How many times as much the media threads of the row `many` carry as the one of `one`, on processors of their
    own."""
    return one["media_us"] / many["media_us"] / busiest_share(many)
