"""Tests the arithmetic of Tools/bench/latency view: records with known figures."""

import http.client
import http.server
import threading
import types
import unittest

from . import figures, limits
from .page import PageServer
from .phases import at_server, course
from .usage import Stat, members


def line(pid, name, parent, session, *times):
    """A line of /proc/PID/stat with the times of itself and of its ended children."""
    return "%d (%s) S %d %d %d 0 -1 4194304 1 2 3 4 %s 20 0 1 0 99 5 6" % (
        pid, name, parent, pid, session, " ".join(str(one) for one in times))


class Usage(unittest.TestCase):
    def test_reads_a_line_of_any_name(self):
        self.assertEqual(Stat.parse(line(7, "a) R 1 (b", 3, 5, 10, 20, 300, 4000)), Stat(3, 5, 4330))

    def test_finds_descendants_and_the_session(self):
        stats = {pid: Stat(parent, session, 0) for pid, parent, session in [
            (1, 0, 1), (10, 1, 10), (11, 10, 10), (12, 11, 12), (13, 1, 10), (20, 1, 20), (21, 20, 20)]}
        # 12 has a session of its own, and the parent of 13 has ended.
        self.assertEqual(members(10, stats), {10, 11, 12, 13})
        self.assertEqual(members(21, stats), {21})
        self.assertEqual(members(99, stats), set())

    def test_ends_where_processes_changed_meanwhile(self):
        self.assertEqual(members(3, {1: Stat(2, 1, 0), 2: Stat(1, 2, 0)}), set())

    def test_is_per_second(self):
        before = {"time": 100.0, "cpu": 5.0, "server_cpu": 1.0, "memory": 1}
        after = {"time": 104.0, "cpu": 5.8, "server_cpu": 1.1, "memory": 50_000}
        found = figures.of_usage(before, after)
        self.assertAlmostEqual(found["cpu"], 200)
        self.assertAlmostEqual(found["server_cpu"], 25)
        self.assertAlmostEqual(found["memory_mb"], 51.2)


class Phases(unittest.TestCase):
    def test_delay_frames_and_freezes_of_a_phase(self):
        # 20 counts per second; each is shown 50 ms later, and nothing from 6.0 s to 6.5 s.
        drawn = {count: count * 0.05 for count in range(400)}
        shown = [(when + 0.05, count) for count, when in drawn.items() if not 6.0 <= when < 6.5]
        look = {"time": 0.0, "cpu": 0.0, "server_cpu": 0.0, "memory": 0}
        said = [(second + 0.5, 40.0 + second) for second in range(20)]
        found = figures.of_phase(shown, figures.Painted(drawn, 0.05), said, [look, dict(look, time=10.0)], 0.0, 10.0)
        self.assertAlmostEqual(found["delay_p50_ms"], 50)
        self.assertAlmostEqual(found["delay_p95_ms"], 50)
        self.assertAlmostEqual(found["pictures_per_second"], 18.9, places=1)
        self.assertAlmostEqual(found["freezes_per_minute"], 6)
        self.assertAlmostEqual(found["frozen_seconds"], 0.55)
        # From 2 s after the beginning: 42 to 49 ms.
        self.assertEqual((found["own_p50_ms"], found["own_p95_ms"]), (46.0, 49.0))

    def test_nothing_was_shown_or_said(self):
        look = {"time": 0.0, "cpu": 0.0, "server_cpu": 0.0, "memory": 0}
        found = figures.of_phase([], figures.Painted({}, 0.05), [(3.0, None)], [look, dict(look, time=10.0)], 0.0, 10.0)
        self.assertIsNone(found["delay_p50_ms"])
        self.assertIsNone(found["own_p50_ms"])
        self.assertEqual(found["pictures_per_second"], 0)
        self.assertEqual(found["frozen_seconds"], 10)

    def test_smooths_as_the_page_does(self):
        values = [(1, 10.0), (2, None), (3, 30.0), (4, 50.0), (5, None), (6, None), (7, None)]
        self.assertEqual([value for _, value in figures.smoothed(values)], [10, 10, 20, 40, 40, 50, None])

    def test_both_paths_go_through_all_phases(self):
        options = types.SimpleNamespace(scene="scroll", seconds=10, round_trip=40, losses=[2, 5], high=4000, low=500,
                                        queue=300, bit_rate=1)
        plan = course(options)
        self.assertEqual([phase.name for phase in plan.narrow], [
            "no loss", "2 % loss", "5 % loss", "4000 kbit/s", "500 kbit/s", "4000 kbit/s again"])
        self.assertEqual([(phase.down["loss"], phase.down["rate"]) for phase in plan.narrow], [
            (0, None), (0.02, None), (0.05, None), (0, 4_000_000), (0, 500_000), (0, 4_000_000)])
        self.assertTrue(all(phase.down["delay"] == phase.up["delay"] == 20 for phase in plan.narrow))
        self.assertEqual((plan.narrow_viewers, plan.clean_viewers, plan.seconds), (2, 0, 60))


    def test_a_server_of_others_has_one_phase_without_loss(self):
        options = types.SimpleNamespace(scene="scroll", seconds=10, bit_rate=1)
        plan = at_server(options, "Janus")
        self.assertEqual([phase.name for phase in plan.narrow], ["at Janus"])
        self.assertEqual((plan.narrow[0].down["loss"], plan.narrow[0].down["delay"], plan.seconds), (0, 0, 10))


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers an offer with its path and itself."""

    def do_POST(self):
        body = self.path.encode() + b" " + self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Location", "/answer/7")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Pages(unittest.TestCase):
    def setUp(self):
        self.endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.addCleanup(self.endpoint.server_close)
        threading.Thread(target=self.endpoint.serve_forever, daemon=True).start()
        self.addCleanup(self.endpoint.shutdown)

    def ask(self, answers, method, path, body=b""):
        page = PageServer("http://127.0.0.1:%d/whep" % self.endpoint.server_port, answers)
        self.addCleanup(page.close)
        connection = http.client.HTTPConnection(page.link.split("/")[2], timeout=10)
        self.addCleanup(connection.close)
        connection.request(method, path, body)
        reply = connection.getresponse()
        return reply, reply.read().decode()

    def test_offers_or_answers(self):
        for answers, function in ((False, "play()"), (True, "answer()")):
            reply, text = self.ask(answers, "GET", "/")
            self.assertEqual(reply.status, 200)
            self.assertIn('post("/whep", ', text)
            self.assertIn("    %s.catch(" % function, text)

    def test_passes_requests_on(self):
        reply, text = self.ask(True, "POST", "/answer/7", b"v=0")
        self.assertEqual((reply.status, text, reply.headers["Location"]), (201, "/answer/7 v=0", "/answer/7"))

    def test_has_no_other_files(self):
        self.assertEqual(self.ask(False, "GET", "/favicon.ico")[0].status, 404)


class Limits(unittest.TestCase):
    @staticmethod
    def missed(view, chromium):
        values = {"view": view, "chromium": chromium}
        names = [types.SimpleNamespace(name="no loss"), types.SimpleNamespace(name="2 % loss")]
        summary = types.SimpleNamespace(
            course=types.SimpleNamespace(narrow=names), value=lambda kind, _, key: values[kind][key])
        return [check.what for check in limits.checks(summary) if not check.is_kept]

    def test_are_kept_up_to_the_limit(self):
        theirs = {"delay_p50_ms": 60, "delay_p95_ms": 80, "cpu": 300}
        self.assertEqual(self.missed({"delay_p50_ms": 60, "delay_p95_ms": 80, "cpu": 150}, theirs), [])
        self.assertEqual(self.missed({"delay_p50_ms": 61, "delay_p95_ms": 81, "cpu": 151}, theirs), [
            "no loss, paint to shown, p50", "no loss, paint to shown, p95", "no loss, CPU time",
            "2 % loss, paint to shown, p50", "2 % loss, CPU time"])

    def test_are_missed_without_a_picture(self):
        known = {"delay_p50_ms": 60, "delay_p95_ms": 80, "cpu": 100}
        nothing = dict(known, delay_p50_ms=None, delay_p95_ms=None)
        for ours, theirs in [(nothing, dict(known, cpu=200)), (known, dict(nothing, cpu=200))]:
            self.assertEqual(self.missed(ours, theirs), [
                "no loss, paint to shown, p50", "no loss, paint to shown, p95", "2 % loss, paint to shown, p50"])


if __name__ == "__main__":
    unittest.main()
