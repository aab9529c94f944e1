"""Tests the arithmetic of runs."""

import unittest

from .figures import medians


class Medians(unittest.TestCase):
    def test_a_figure_that_a_run_lacks_is_the_median_of_the_others(self):
        runs = [{"rtmp": {"cpu": 1, "text": "a"}}, {"rtmp": {"p50": 4}}, {"rtmp": {"cpu": 3, "p50": 6, "text": "b"}}]
        for order in (runs, runs[::-1]):
            found = medians(order)
            self.assertEqual((found["rtmp"]["cpu"], found["rtmp"]["p50"]), (2, 5))
        self.assertEqual(medians(runs)["rtmp"]["text"], "b")

    def test_what_no_run_has_is_none(self):
        self.assertEqual(medians([{"a": None, "b": 1}, {"a": None, "b": 3}]), {"a": None, "b": 2})
        self.assertEqual(medians([{"a": 3}, {"a": None}]), {"a": 3})

    def test_lists_are_left_out(self):
        self.assertEqual(medians([{"a": 1, "series": [1, 2]}]), {"a": 1})


if __name__ == "__main__":
    unittest.main()
