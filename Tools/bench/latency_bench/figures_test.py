"""Tests the arithmetic of Tools/bench/latency: counts with known times."""

import unittest

from bench_kit.counts import first_times, new_counts, painted_first

from .figures import delays_of


class Counts(unittest.TestCase):
    def test_only_newer_counts_that_were_drawn(self):
        drawn = first_times([[1, 0.0], [2, 0.1], [3, 0.2], [2, 0.9]])
        self.assertEqual(drawn, {1: 0.0, 2: 0.1, 3: 0.2})
        shown = [[1, 0.05], [65535, 0.06], [3, 0.25], [2, 0.26], [3, 0.3]]
        self.assertEqual(new_counts(shown, drawn), [(0.05, 1), (0.25, 3)])

    def test_painted_when_the_first_picture_with_a_count_was(self):
        drawn = {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0}
        pictures = [(1, 1.1), (1, 1.5), (2, 2.2), (None, 2.3), (9, 2.4)]
        self.assertEqual(painted_first(pictures, drawn), {1: 1.1, 2: 2.2})

    def test_not_painted_before_it_was_handed_over(self):
        # The picture of 2 was replaced by that of 3, which has its time.
        self.assertEqual(painted_first([(1, 1.1), (3, 2.1)], {1: 1.0, 2: 2.0, 3: 3.0}), {1: 1.1, 3: 3.0})

    def test_a_count_whose_first_picture_has_no_time_has_none(self):
        self.assertEqual(painted_first([(1, None), (1, 1.5), (2, 2.1)], {1: 1.0, 2: 2.0}), {2: 2.1})


class Delays(unittest.TestCase):
    def test_only_those_painted_in_the_window(self):
        painted = {1: 0.9, 2: 1.0, 3: 1.9, 4: 2.0}
        shown = [[1, 1.0], [2, 1.01], [3, 2.1], [4, 2.2]]
        self.assertEqual([round(one, 6) for one in delays_of(shown, painted, 1.0, 1.0)], [10, 200])


if __name__ == "__main__":
    unittest.main()
