"""The scenarios: what each viewer's path does, phase by phase."""

import dataclasses

from bench_kit.path import settings

#: Seconds in which nothing is wrong with the path, to compare with.
REFERENCE = 10


@dataclasses.dataclass
class Phase:
    name: str
    seconds: float
    down: dict  # settings of the path towards the viewer
    up: dict


@dataclasses.dataclass
class Course:
    """One thing that is measured, on one scene."""
    scenario: str
    name: str
    kind: str  # motion, repaint or first: which module measures it
    scene: str
    narrow: list  # the phases of the narrow viewers
    narrow_viewers: int
    clean_viewers: int
    clean: Phase  # the path of the clean viewers, always the same
    bit_rate: int
    facts: dict = dataclasses.field(default_factory=dict)

    @property
    def seconds(self):
        return sum(phase.seconds for phase in self.narrow)

    @property
    def title(self):
        return "%s, %s" % (self.name, self.scene)


class Scenario:
    """A preset; `courses` makes what is run from the command line's options."""

    def __init__(self, name, summary, courses, scenes, seconds):
        self.name, self.summary, self._courses = name, summary, courses
        self.scenes, self.seconds = scenes, seconds

    def courses(self, options):
        seconds = options.seconds or self.seconds
        return [course for scene in options.scenes or self.scenes for course in self._courses(options, scene, seconds)]


def _course(options, scenario, name, scene, narrow, kind="motion", clean=None, bit_rate=None, **facts):
    half = options.round_trip / 2
    beside = Phase("clean", sum(phase.seconds for phase in narrow), settings(delay=half), settings(delay=half))
    clean = options.clean if clean is None else clean
    bit_rate = options.bit_rate or (4_000_000 if bit_rate is None else bit_rate)
    return Course(scenario, name, kind, scene, narrow, options.narrow, clean, beside, bit_rate, facts)


def _phase(options, name, seconds, up=None, **down):
    half = {"delay": options.round_trip / 2}
    return Phase(name, seconds, settings(**{**half, **down}), settings(**{**half, **(up or {})}))


def _steps(options, scene, seconds):
    for queue in options.queues:
        def rate(kilobits):
            return _phase(options, "%g kbit/s" % kilobits, seconds, rate=kilobits * 1000, queue=queue)

        phases = [_phase(options, "no limit", REFERENCE), rate(options.high), rate(options.low), rate(options.high)]
        # Phases are told apart by their names, even if nothing changes.
        phases[2].name += " meanwhile" if options.low == options.high else ""
        phases[3].name += " again"
        yield _course(options, "steps", "steps, queue %g ms" % queue, scene, phases, low=options.low * 1000)


def _impaired(options, scenario, name, scene, seconds, bit_rate=2_000_000, up=None, **down):
    """First without the fault, to compare with."""
    return _course(options, scenario, name, scene,
                   [_phase(options, "without", REFERENCE), _phase(options, name, seconds, up=up, **down)],
                   clean=0, bit_rate=bit_rate)


def _loss(options, scene, seconds):
    for percent in options.losses:
        yield _impaired(options, "loss", "%g %% loss" % percent, scene, seconds, loss=percent / 100)
    yield _impaired(options, "loss", "5 % loss both ways", scene, seconds, up={"loss": 0.05}, loss=0.05)


def _burst(options, scene, seconds):
    yield _impaired(options, "burst", "2 % loss in bursts of 5", scene, seconds, loss=0.02, burst=5)


def _duplicates(options, scene, seconds):
    yield _impaired(options, "duplicates", "20 % duplicates", scene, seconds, duplicate=0.2)


def _reorder(options, scene, seconds):
    yield _impaired(options, "reorder", "5 % reordered by 30 ms", scene, seconds, reorder=0.05, reorder_by=30)


def _jitter(options, scene, seconds):
    yield _impaired(options, "jitter", "jitter of 20 ms", scene, seconds, jitter=20)


def _growth(options, scene, seconds):
    """The share has no --bitrate: its rate follows the paths. One viewer's link is narrow all the time."""
    phases = [_phase(options, "seconds %g to %g" % (start, start + seconds), seconds, rate=options.high * 500, queue=300)
              for start in (part * seconds for part in range(4))]
    yield _course(options, "growth", "growth, beside %g kbit/s" % (options.high / 2), scene, phases, bit_rate=0)


def _still_repaint(options, scene, seconds):
    queue = options.queues[0] if len(options.queues) == 1 else 300
    yield _course(options, "still-repaint", "repaint after %g s of stillness" % seconds, scene,
                  [_phase(options, "%g kbit/s" % options.low, seconds, rate=options.low * 1000, queue=queue)],
                  kind="repaint", low=options.low * 1000)


def _first_picture(options, scene, seconds):
    for round_trip in options.round_trips:
        half = {"delay": round_trip / 2}
        phase = Phase("%g ms" % round_trip, 0, settings(**half), settings(**half))
        yield _course(options, "first-picture", "round trip %g ms" % round_trip, scene, [phase], kind="first", clean=0,
                      round_trip=round_trip, opens=max(1, int(seconds)))


ALL = {one.name: one for one in [
    Scenario("steps", "the link of one viewer falls and rises again, beside a clean viewer", _steps,
             ["scroll", "full"], 20),
    Scenario("growth", "a share without --bitrate: the clean viewer's path lets its rate rise, a narrow one doesn't",
             _growth, ["full"], 5),
    Scenario("loss", "random loss towards the viewer, and 5 % both ways", _loss, ["scroll"], 60),
    Scenario("burst", "2 % of the packets are lost, in bursts of 5 (Gilbert-Elliott)", _burst, ["scroll"], 60),
    Scenario("duplicates", "20 % of the packets come twice", _duplicates, ["scroll"], 60),
    Scenario("reorder", "5 % of the packets come 30 ms after their turn", _reorder, ["scroll"], 60),
    Scenario("jitter", "the delay changes by up to 20 ms more or less", _jitter, ["scroll"], 60),
    Scenario("still-repaint", "a still screen on a narrow link, and then all of it changes", _still_repaint,
             ["full", "scroll"], 60),
    Scenario("first-picture", "from the start of navigation to the first picture, new and opened again", _first_picture,
             ["idle"], 5),
]}
