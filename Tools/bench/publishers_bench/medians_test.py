"""Tests the medians of several runs of Tools/bench/publishers."""

import unittest

from .medians import medians


class Medians(unittest.TestCase):
    def test_a_figure_that_a_run_lacks_is_the_median_of_the_others(self):
        runs = [{"rtmp": {"cpu": 1, "text": "a"}, "srt": None}, {"rtmp": {"p50": 4}, "srt": None},
                {"rtmp": {"cpu": 3, "p50": 6, "text": "b"}, "srt": None}]
        for order in (runs, runs[::-1]):
            found = medians(order)
            self.assertEqual((found["rtmp"]["cpu"], found["rtmp"]["p50"]), (2, 5))
            self.assertNotIn("srt", found)
        self.assertEqual(medians(runs)["rtmp"]["text"], "b")


if __name__ == "__main__":
    unittest.main()
