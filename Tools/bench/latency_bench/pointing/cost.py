"""What pointing costs: CPU time, and pictures that are encoded."""

import time

from bench_kit.processes import Failure

from .figures import aimed, increase, of_cost, on_path
from .stage import Stage

#: Events of the pointer per second.
RATE = 60
#: Seconds before a phase: refinement comes to rest, and after pointing, the overlay's last pixels go (3 s).
LEAD = 5.0
#: Seconds until the capture reports, which it does after a picture: every 2.5 s at least.
REPORT = 10


def measure(bench, scene, folder, seed):
    """One run: the figures of both phases, in turns in either order, and what pointing adds."""
    seconds, found = bench.options.seconds, {}
    with Stage(bench, folder) as stage:
        stage.open(scene, 2 * (LEAD + seconds + REPORT))
        # The part of the page that points is loaded before anything counts.
        stage.turn_laser(True)
        stage.turn_laser(False)
        for name in ("resting", "pointing") if seed % 2 else ("pointing", "resting"):
            if name == "pointing":
                stage.turn_laser(True)
            found[name] = _phase(stage, seconds, name == "pointing")
            if name == "pointing":
                stage.turn_laser(False)
        found["more"] = increase(found["resting"], found["pointing"])
        found["busy"] = {"share": stage.busy()}
    return found


def _phase(stage, seconds, is_pointing):
    ticker = Ticker(stage, is_pointing)
    ticker.run_for(LEAD)
    before = ticker.run_until_report()
    stage.take_events()
    ticker.run_for(seconds)
    after = ticker.run_until_report()
    return of_cost(before, after, len(stage.take_events()))


class Ticker:
    """Lets time pass, in which the viewer may move its pointer."""

    def __init__(self, stage, is_pointing):
        self.stage, self.is_pointing = stage, is_pointing
        self.begin = self.next = time.monotonic()

    def run_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.tick()

    def run_until_report(self):
        """Until the capture reports again; gives what all has used by then."""
        last, end = self.stage.counts(), time.monotonic() + REPORT
        while True:
            self.tick()
            counts = self.stage.counts()
            if counts is not None and counts != last:
                return self.stage.look(counts)
            if time.monotonic() > end:
                raise Failure("the capture has reported nothing for %d s" % REPORT)

    def tick(self):
        if self.is_pointing:
            place = on_path(self.stage.size, time.monotonic() - self.begin)
            self.stage.mouse("mouseMoved", aimed(place, self.stage.box)[0])
        now = time.monotonic()
        # After a stall it goes on from now, instead of catching up.
        self.next = max(self.next + 1 / RATE, now)
        time.sleep(self.next - now)
