"""What is measured, and what is expected of it; every limit is here and nowhere else."""

import dataclasses

from capture_bench.limits import Check, at_most

#: Seconds from opening the page to its first picture.
FIRST_PICTURE = 10


@dataclasses.dataclass(frozen=True)
class Course:
    name: str
    host_nat: str
    viewer_nat: str
    #: Whether any UDP passes the viewer's router.
    has_udp: bool
    #: The way by which the pictures have to come: "direct" or "relay".
    expected: str
    #: How the viewer has to reach the relay; None if there is none, or it doesn't matter.
    relay_protocol: str = None

    @property
    def title(self):
        return "%s: NAT of the host %s, of the viewer %s%s" % (
            self.name, self.host_nat, self.viewer_nat, "" if self.has_udp else ", no UDP at the viewer")


#: A NAT that gives every destination the port that another one was told can be opened by the host's own packets. If one
#: of the two gives another port, nobody knows which: both let in only what comes from the very port they sent to.
ALL = {one.name: one for one in [
    Course("both-preserving", "preserving", "preserving", True, "direct"),
    Course("viewer-random", "preserving", "random", True, "relay", "udp"),
    Course("host-random", "random", "preserving", True, "relay", "udp"),
    Course("both-random", "random", "random", True, "relay", "udp"),
    Course("no-udp", "preserving", "preserving", False, "relay", "tcp"),
]}


def checks(course, runs):
    """The checks of one course: each of its runs has to keep the limits."""
    ways = [run["way"] for run in runs]
    times = [run["first_picture_s"] for run in runs]
    found = [_all("%s: way" % course.name, ways, course.expected)]
    if course.relay_protocol:
        found.append(_all("%s: protocol to the relay" % course.name, [run["relay_protocol"] for run in runs],
                          course.relay_protocol))
    what, unit = "%s: first picture" % course.name, "s"
    found.append(Check(what, "never", "at most %g s" % FIRST_PICTURE, False) if None in times else at_most(
        what, max(times), FIRST_PICTURE, unit))
    return found


def _all(what, values, wanted):
    """A check that all values are the wanted one."""
    shown = ", ".join(dict.fromkeys(str(value) for value in values))
    return Check(what, shown, wanted, set(values) == {wanted})
