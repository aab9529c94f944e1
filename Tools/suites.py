"""Runs the built tests in several processes, as many at once as keep the machine busy, and says where the time went.

A job is a target of unit tests or a suite of end-to-end tests; each has a process, and so its own displays, ports and
folders beside the others'. A further job starts while the processors are idle for a fifth of the time or more. What
measures runs at the end, one suite at a time (the suites of `Measuring`).

usage: python3 -B Tools/suites.py --bundle FILE --list FILE --logs FOLDER [--known FILE]
  --bundle  the program with all tests
  --list    the tests, as `swift test list` prints them
  --logs    where the output of each job is kept
  --known   the times of the last run, which decide what starts first; is written anew
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

#: The most jobs at once; each may have a browser, which takes 300 MB.
MOST = 5
#: A further job starts while the processors were at most this busy. A browser that starts takes 2 s to show its load.
BUSY, SETTLE = 0.8, 2.0
#: Ports that only one of the jobs that run at once uses; tests take a few dozen of them each.
FIRST_PORT, PORTS = 10_000, 2500
#: No job takes longer, however slow the machine is.
LIMIT = 30 * 60
SLOWEST = 20


class Job:
    def __init__(self, name, tests):
        self.name, self.tests = name, tests
        self.wall = self.processor = 0.0
        self.status = None
        self.passed, self.failed, self.skipped = {}, {}, []

    @property
    def filter(self):
        return "^" + re.escape(self.name).replace("/", r"\/") + (r"\." if "." not in self.name else r"\/")

    def start(self, bundle, logs, place):
        self.place = place
        self.log = logs / (re.sub(r"[./]", "-", self.name) + ".log")
        self.began = time.monotonic()
        with open(self.log, "w") as output:
            self.child = subprocess.Popen(
                [bundle, "--testing-library", "swift-testing", "--filter", self.filter], stdout=output,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                env=os.environ | {"SCREENRELAY_FIRST_PORT": str(FIRST_PORT + place * PORTS)})

    def ended(self):
        """Whether the job is over; takes down its times and its tests' results then."""
        if time.monotonic() - self.began > LIMIT:
            os.killpg(self.child.pid, 9)
        pid, status, usage = os.wait4(self.child.pid, os.WNOHANG)
        if pid == 0:
            return False
        self.child.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.wall = time.monotonic() - self.began
        self.processor = usage.ru_utime + usage.ru_stime
        for line in open(self.log, errors="replace"):
            if found := re.match(r'(✔|✘) Test (?!run with)(.*?) (?:with \d+ test cases )?(?:passed|failed) after ([\d.]+) seconds', line):
                (self.passed if found[1] == "✔" else self.failed)[found[2]] = float(found[3])
            elif line.startswith("➜ "):
                self.skipped.append(line.rstrip())
        return True


def jobs(lines):
    """A job for each target of unit tests and each suite of end-to-end tests."""
    tests = collections.Counter()
    for line in lines:
        target, _, rest = line.strip().partition(".")
        if not rest:
            continue
        parts = rest.split("/")
        tests[f"{target}.{'/'.join(parts[:2])}" if target == "EndToEndTests" else target] += 1
    return [Job(name, count) for name, count in tests.items()]


class Load:
    """How busy the processors have been since the last question, without what gives way to everything (nice)."""

    def __init__(self):
        self.times = self.read()

    @staticmethod
    def read():
        with open("/proc/stat") as file:
            values = [int(word) for word in file.readline().split()[1:9]]
        return sum(values), values[1] + values[3] + values[4]

    def busy(self):
        (all_before, idle_before), self.times = self.times, self.read()
        ticks = self.times[0] - all_before
        return 1 - (self.times[1] - idle_before) / ticks if ticks else 1.0


def run(waiting, most, bundle, logs):
    """Runs jobs, the first ones first, and yields each when it has ended."""
    running, load, looked = [], Load(), time.monotonic()
    waiting = list(waiting)
    while waiting or running:
        now = time.monotonic()
        if waiting and len(running) < most and (not running or now - looked >= SETTLE):
            if not running or load.busy() < BUSY:
                free = min(set(range(most)) - {job.place for job in running})
                waiting[0].start(bundle, logs, free)
                running.append(waiting.pop(0))
            looked = now
        for job in [one for one in running if one.ended()]:
            running.remove(job)
            yield job
        time.sleep(0.1)


def report(done, began):
    wall, processor = time.monotonic() - began, sum(job.processor for job in done)
    print("\nTime of each suite (seconds; CPU is that of its process and of what it started):")
    for job in sorted(done, key=lambda one: -one.wall):
        print(f"  {job.wall:7.1f}  CPU {job.processor:7.1f}  {len(job.passed) + len(job.failed):5} tests  {job.name}")
    slow = sorted(((seconds, name, job.name) for job in done for name, seconds in job.passed.items()), reverse=True)
    print(f"\nThe {SLOWEST} slowest tests:")
    for seconds, name, suite in slow[:SLOWEST]:
        print(f"  {seconds:7.1f}  {suite}: {name}")
    print(f"\nIn all {wall:.0f} s, {processor:.0f} s of CPU time: {processor / wall:.2f} of {os.cpu_count()} processors")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    for name in ("bundle", "list", "logs", "known"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    given = parser.parse_args()
    waiting = jobs(open(given.list))
    if not waiting:
        sys.exit("suites: there are no tests")
    known = json.loads(given.known.read_text()) if given.known and given.known.exists() else {}
    waiting.sort(key=lambda job: -known.get(job.name, job.tests))
    began, done = time.monotonic(), []

    def carry_out(waiting, most):
        for job in run(waiting, most, given.bundle, given.logs):
            done.append(job)
            sign = "✔" if job.status == 0 else "✘"
            print(f"{sign} {job.name}: {len(job.passed)} passed, {len(job.failed)} failed, {job.wall:.1f} s, "
                  f"CPU {job.processor:.1f} s", flush=True)
            for line in job.skipped:
                print(line)

    carry_out(waiting, MOST)
    crowded = [job for job in done if job.status != 0]
    if crowded:
        subprocess.run([pathlib.Path(__file__).with_name("failures"), *(job.log for job in crowded)], check=False)
        print("\nAgain, one at a time:")
        done = [job for job in done if job.status == 0]
        carry_out([Job(job.name, job.tests) for job in crowded], 1)
    report(done, began)
    if given.known:
        given.known.write_text(json.dumps({job.name: round(job.wall, 1) for job in done}))
    bad = [job for job in done if job.status != 0]
    if bad:
        subprocess.run([pathlib.Path(__file__).with_name("failures"), *(job.log for job in bad)], check=False)
    for job in crowded:
        print(f"  {job.name} failed beside others" + (", and alone" if job.name in {one.name for one in bad} else
                                                      ": it passed alone"))
    print(f"{sum(len(job.passed) for job in done)} passed, {sum(len(job.failed) for job in done)} failed")
    return 1 if bad else 0


sys.exit(main())
