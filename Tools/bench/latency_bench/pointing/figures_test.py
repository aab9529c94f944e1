"""Tests the arithmetic of Tools/bench/latency pointing: records with known figures."""

import unittest

from . import figures, limits, report


class Places(unittest.TestCase):
    def test_the_color_is_the_overlays(self):
        # As PointingOverlayTests (EndToEndTests) has it.
        self.assertEqual(figures.dot_color("Cid"), (0xF9, 0x06, 0xCC))

    def test_all_are_different_and_a_cell_apart(self):
        for count, size in [(50, (1280, 720)), (60, (1280, 720)), (150, (1920, 1080)), (60, (800, 600))]:
            found = figures.places(size, count, 1)
            self.assertEqual(len(set(found)), count)
            for one in found:
                ends = figures.stroke(one)
                self.assertTrue(all(0 <= x < size[0] and 0 <= y < size[1] for x, y in ends))
                for x, y in (other for other in found if other != one):
                    self.assertTrue(abs(x - one[0]) >= figures.CELL[0] - 1 or abs(y - one[1]) >= figures.CELL[1] - 1)

    def test_the_seed_decides_the_order(self):
        one, other = (figures.places((1280, 720), 60, seed) for seed in (1, 2))
        self.assertNotEqual(one, other)
        self.assertEqual(one, figures.places((1280, 720), 60, 1))

    def test_cells_that_are_too_small_are_refused(self):
        self.assertIsNone(figures.places((640, 360), 500, 1))

    def test_a_place_is_where_the_windows_pixel_is(self):
        self.assertEqual(figures.aimed((100, 50), (20.0, 144.0, 1.0)), ((120, 194), (100, 50)))
        # 1,000 pixels of the window for 500 of the picture, and the other way round.
        self.assertEqual(figures.aimed((100, 50), (0.0, 10.0, 2.0)), ((201, 111), (100, 50)))
        self.assertEqual(figures.aimed((101, 51), (0.0, 10.0, 0.5)), ((51, 36), (102, 52)))

    def test_the_moving_pointer_stays_in_the_picture_and_reaches_most_of_it(self):
        found = [figures.on_path((1280, 720), step / 60) for step in range(60 * 20)]
        self.assertTrue(all(127 <= x <= 1153 and 71 <= y <= 649 for x, y in found))
        quarters = {(x > 640, y > 360) for x, y in found}
        self.assertEqual(len(quarters), 4)


class Delays(unittest.TestCase):
    def test_a_dot_is_seen_before_the_next_one_is_sent(self):
        sent = [1.0, 2.0, 3.0]
        # The first is seen twice, the second too late, and the third was there before.
        shown = [[0, 1.05], [0, 1.5], [1, 3.2], [2, 0.5], [2, 3.03]]
        self.assertEqual(figures.matched(sent, shown), [1.05, None, 3.03])
        self.assertEqual(figures.matched(sent, []), [None] * 3)

    def test_an_event_belongs_to_its_place_and_comes_after_the_dispatch(self):
        events = [[10.0, 20.0, 0.9, 0.95], [10.2, 19.9, 1.001, 1.010], [10.0, 20.0, 1.2, 1.3], [30.0, 20.0, 2.0, 2.1]]
        self.assertEqual(figures.events_of([(10, 20), (30, 20), (50, 20)], [1.0, 1.9, 2.5], events), [
            (1.001, 1.010), (2.0, 2.1), None])

    def test_the_parts_of_the_delay(self):
        sent = [float(second) for second in range(100)]
        events = [(start + 0.002, start + 0.012) for start in sent]
        # 30 ms, of which 95 to 99 have more, and one is missing.
        seen = [start + (0.030 if start < 94 else 0.050) for start in sent]
        seen[50] = None
        found = figures.of_delays(sent, events, seen)
        self.assertEqual((found["dots"], found["unseen"]), (100, 1))
        for key, value in {"p50_ms": 30, "p95_ms": 50, "max_ms": 50, "event_p50_ms": 28, "event_p95_ms": 48,
                           "to_page_p50_ms": 12, "from_page_p50_ms": 18, "from_page_p95_ms": 38}.items():
            self.assertAlmostEqual(found[key], value, msg=key)

    def test_nothing_was_seen(self):
        self.assertIsNone(figures.of_delays([1.0], [(1.0, 1.01)], [None]))
        self.assertIsNone(figures.of_delays([1.0], [None], [1.02]))


class Costs(unittest.TestCase):
    RESTING = {"time": 0, "capture": 0, "host": 0, "server": 0, "pictures": 100, "bytes": 1000}

    def test_is_per_second(self):
        after = {"time": 20_000_000_000, "capture": 40_000_000, "host": 100_000_000, "server": 10_000_000,
                 "pictures": 108, "bytes": 3000}
        found = figures.of_cost(self.RESTING, after, 1200)
        self.assertEqual(found, {"seconds": 20.0, "capture_cpu": 2.0, "host_cpu": 5.0, "server_cpu": 0.5,
                                 "pictures_per_second": 0.4, "bytes_per_second": 100.0, "moves_per_second": 60.0})

    def test_the_increase_leaves_out_the_length(self):
        resting = {"seconds": 15.0, "capture_cpu": 2.0, "moves_per_second": 0.0}
        pointing = {"seconds": 17.5, "capture_cpu": 4.5, "moves_per_second": 60.0}
        self.assertEqual(figures.increase(resting, pointing), {"capture_cpu": 2.5, "moves_per_second": 60.0})


def cost(capture=2.0, pictures=0.4, moves=60.0):
    one = {"seconds": 20.0, "capture_cpu": capture, "pictures_per_second": pictures, "moves_per_second": moves,
           "bytes_per_second": 0.0, "host_cpu": 0.0, "server_cpu": 0.0}
    return one


class Limits(unittest.TestCase):
    @staticmethod
    def missed(part, scene, measured):
        return [check.what for check in limits.checks(part, scene, measured) if not check.is_kept]

    def test_of_the_delay(self):
        kept = {"p95_ms": 60, "unseen": 0, "dots": 60}
        self.assertEqual(self.missed("delay", "idle", {"laser": kept, "pen": kept}), [])
        self.assertEqual(self.missed("delay", "idle", {"laser": kept, "pen": dict(kept, p95_ms=61, unseen=1)}), [
            "idle, pen, p95", "idle, pen, not seen"])

    def of_cost(self, scene, resting, pointing):
        return self.missed("cost", scene, {
            "resting": resting, "pointing": pointing, "more": figures.increase(resting, pointing)})

    def test_of_the_cost(self):
        self.assertEqual(self.of_cost("idle", cost(moves=0.0), cost(capture=5.0)), [])
        # One picture in 20 s is within what two windows may differ by; two aren't.
        self.assertEqual(self.of_cost("idle", cost(), cost(pictures=0.44)), [])
        self.assertEqual(self.of_cost("idle", cost(), cost(capture=5.1, pictures=0.5, moves=34.0)), [
            "idle, capture's CPU time, more", "idle, pictures, more", "idle, pointer's events"])
        # Of ten per second, three per cent.
        self.assertEqual(self.of_cost("typing", cost(pictures=10.0), cost(pictures=10.25)), [])
        self.assertEqual(self.of_cost("typing", cost(pictures=10.0), cost(pictures=10.4)), ["typing, pictures, more"])

    def test_fewer_pictures_and_less_time_are_no_fault(self):
        self.assertEqual(self.of_cost("typing", cost(pictures=10.0), cost(capture=1.0, pictures=9.0)), [])

    def test_other_scenes_have_none(self):
        self.assertEqual(limits.checks("cost", "full", {}), [])


class Reports(unittest.TestCase):
    def test_tables(self):
        one = {"dots": 60, "unseen": 0, "p50_ms": 20.4, "p95_ms": 31.0, "max_ms": 40.0, "event_p50_ms": 18.0,
               "event_p95_ms": 29.0, "to_page_p50_ms": 9.0, "from_page_p50_ms": 11.0, "from_page_p95_ms": 20.0}
        resting, pointing = cost(moves=0.0), cost(capture=4.25)
        lines = report.lines({("delay", "idle"): {"laser": one}, ("cost", "idle"): {
            "resting": resting, "pointing": pointing, "more": figures.increase(resting, pointing)}})
        self.assertIn("| idle | the laser's dot | 20 / 31 / 40 | 18 / 29 | 9 | 11 / 20 | 0 of 60 |", lines)
        self.assertIn("| idle | more | +2.2 | +0.00 | +0 | +0.0 | +0.0 | +60 |", lines)


if __name__ == "__main__":
    unittest.main()
