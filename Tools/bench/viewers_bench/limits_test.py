"""Tests the limits of Tools/bench/viewers: rows at a limit, and just beyond it."""

import contextlib
import io
import unittest

from bench_kit.outcome import MISSED, OK, conclude

from . import figures, limits, shards, watch
from .options import parse


def row(viewers=500, threads=None, **changed):
    """A row at every limit."""
    whole = {"viewers": viewers, "joined": viewers, "threads": threads, "host_percent": 0.04 * viewers,
             "media_us": 4.5, "media_ns": [1000], "floor_sendto_us": 3.0, "floor_segmented_us": 2.7,
             "memory_kib": 78.125, "whole_percent": 99.9, "sampled_pictures": 300,
             "decoded_pictures": 300, "spread_ms": {"p95": 33.0}, "join_ms": {"p95": 500.0},
             "low_rate": 0, "unplaced": 0, "drops": 0, "cpu_percent": 90.0}
    return {**whole, **changed}


def missed(rows, servers=()):
    return [check.what for check in limits.checks_of_load(rows, servers) if not check.is_kept]


class Figures(unittest.TestCase):
    def test_shares_and_ratios(self):
        self.assertAlmostEqual(figures.floor_share(row(media_us=5.0, floor_segmented_us=3.0)), 60)
        self.assertAlmostEqual(figures.sendto_ratio(row()), 1.5)
        self.assertAlmostEqual(figures.per_viewer(row(host_percent=20, joined=400)), 0.05)
        self.assertAlmostEqual(figures.janus_ratio({"host_percent": 20}, {"host_percent": 50}), 2.5)

    def test_what_threads_carry(self):
        # The busiest of three has 40 % of the work, and all need a quarter more for each packet.
        many = row(threads=3, media_us=5.0, media_ns=[400, 300, 300])
        self.assertAlmostEqual(figures.carried(row(media_us=4.0), many), 2)
        self.assertIn("one thread 4.00; the busiest had 40 % of the work: 2.00 times", shards.line([row(media_us=4.0), many]))

    def test_the_most_at_the_low_rate_rendition(self):
        self.assertEqual(watch.most_at_low_rate([{"narrow_viewers": count} for count in (0.0, 3.0, 1.0)]), 3)


class Load(unittest.TestCase):
    def test_are_kept_at_the_limit(self):
        self.assertEqual(missed([row(), row(2000)]), [])

    def test_what_viewers_get(self):
        for viewers in (1, 500):
            for name, changed in [
                    ("whole pictures", {"whole_percent": 99.89}),
                    ("pictures of one viewer that weren't decoded", {"decoded_pictures": 299}),
                    ("pictures of one viewer that weren't decoded", {"sampled_pictures": 0, "decoded_pictures": 0}),
                    ("spread, p95", {"spread_ms": {"p95": 33.1}}),
                    ("join, p95", {"join_ms": {"p95": 501.0}}),
                    ("viewers at the low-rate rendition", {"low_rate": 1.0}),
                    ("viewers that aren't compared", {"unplaced": 1}),
                    ("datagrams that bench-viewers had no room for", {"drops": 1}),
                    ("bench-viewers' share of its processor", {"cpu_percent": 90.1})]:
                self.assertEqual(missed([row(viewers, **changed)]), ["%d viewers: %s" % (viewers, name)])

    def test_costs_have_limits_from_500_viewers_on(self):
        for name, changed in [
                ("of the viewers of the floor with UDP_SEGMENT", {"floor_segmented_us": 2.69}),
                ("CPU time of media by that of encryption and sendto", {"floor_sendto_us": 2.99}),
                ("memory for each viewer", {"memory_kib": 78.2})]:
            self.assertEqual(missed([row(**changed)]), ["500 viewers: " + name])
            self.assertEqual(missed([row(2000, **changed)]), ["2000 viewers: " + name])
            self.assertEqual(missed([row(499, **changed)]), [])

    def test_cpu_time_for_each_viewer(self):
        rows = [row(99, host_percent=50), row(100, host_percent=10.9), row(500, host_percent=52),
                row(1000, host_percent=100)]
        self.assertEqual(missed(rows), [])
        # Fewer for each of more viewers counts as well, and so does more.
        rows[1]["host_percent"] = 11.1
        self.assertEqual(missed(rows), ["CPU time for each viewer, with 100 viewers by that with 1000"])
        rows[1]["host_percent"] = 9.4
        self.assertEqual(missed(rows), ["CPU time for each viewer, with 500 viewers by that with 100"])
        self.assertEqual(missed(rows[:2]), [])

    def test_janus(self):
        servers = [{"viewers": 500, "host_percent": 60.0}, {"viewers": 100, "host_percent": 4.0}]
        self.assertEqual(missed([row(100), row()], servers), [])
        servers[0]["host_percent"] = 59.9
        self.assertEqual(missed([row(100), row()], servers), ["500 viewers: CPU time of Janus by the host's"])

    def test_threads(self):
        # They need more for each packet on one processor, which is no cost on their own.
        many = row(threads=3, media_us=5.0, media_ns=[1, 1, 1])
        self.assertEqual(missed([row(), many]), [])
        self.assertEqual(missed([row(), dict(many, media_us=5.01)]), [
            "500 viewers: what 3 media threads carry, by what one does"])
        self.assertEqual(missed([row(), dict(many, low_rate=1.0, host_percent=90)]), [
            "500 viewers, 3 media threads: viewers at the low-rate rendition"])

    def test_each_missed_limit_is_a_line_and_the_exit_code_is_1(self):
        lines = ["missed: 500 viewers: of the viewers of the floor with UDP_SEGMENT: 50 %, at least 60 %",
                 "missed: 500 viewers: memory for each viewer: 90 KiB, at most 78.125 KiB"]
        for one, code, expected in [(row(), OK, []), (row(memory_kib=90.0, floor_segmented_us=2.25), MISSED, lines)]:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                self.assertEqual(conclude([], limits.checks_of_load([one], []), True), code)
            self.assertEqual([line for line in said.getvalue().splitlines() if line.startswith("missed: ")], expected)


class Command(unittest.TestCase):
    def refused(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
            parse(words)
        self.assertEqual(ended.exception.code, 64)
        return said.getvalue()

    def test_check_with_and_without_a_disturbance(self):
        for words in ([], ["--feedback", "reports"], ["--janus"], ["--viewers", "500", "--threads", "3"],
                      ["--disturb", "all"]):
            self.assertTrue(parse(["--check", *words]).check)

    def test_check_only_where_there_are_limits(self):
        for words in (["--by", "rtsp"], ["--path", "loss=5%"], ["--against", "OLD", "--programs", "NEW"]):
            self.assertIn("--check: not with", self.refused("--check", *words))
        self.assertIn("500", self.refused("--check", "--janus", "--viewers", "100"))


if __name__ == "__main__":
    unittest.main()
