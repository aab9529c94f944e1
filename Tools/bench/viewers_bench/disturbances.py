"""What disturbs a host, each for so many seconds. Each function gives what it has counted itself."""

import os
import subprocess
import sys
import time

from bench_kit.processes import Failure, Process

from .generator import Program

#: Joins, peers and checks per second.
RATES = {"joins": 20, "hellos": 100, "checks": 20_000}
#: Seconds after the last hello in which half-open sessions must be over; longer than any limit of the host.
HALF_OPEN_WAIT = 60


def busy(bench, host, seconds):
    """Another program at the host's processor."""
    process = Process("busy", [sys.executable, "-m", "viewers_bench.busy", str(bench.options.host_core),
                               "%g" % seconds], os.path.join(bench.new_folder(), "busy.log"), stdout=subprocess.PIPE)
    try:
        output, _ = process.child.communicate(timeout=seconds + 30)
    finally:
        process.stop()
    try:
        return {"busy_percent": float(output)}
    except ValueError:
        raise Failure("the busy program: %s" % process.last_words())


def _attack(bench, host, kind, seconds):
    words = ["attack", "--kind", kind, "--rate", str(RATES[kind]), "--seconds", "%gs" % seconds, "--core",
             str(bench.options.core), host.link]
    return Program(bench.program("bench-viewers"), words, bench.new_folder())


def joins(bench, host, seconds):
    """Further viewers, each of which leaves after 5 s, so that their number stays level."""
    with _attack(bench, host, "joins", seconds) as program:
        return program.wait_for("result", seconds + 60)


def hellos(bench, host, seconds):
    """Peers that stop in the handshake, until their sessions are over."""
    with _attack(bench, host, "hellos", seconds) as program:
        program.wait_for("sent", seconds + 60)
        begin, half_open = time.monotonic(), None
        while half_open is None and time.monotonic() < begin + HALF_OPEN_WAIT:
            if host.metrics()['sessions{state="connecting"}'] == 0:
                half_open = time.monotonic() - begin
            time.sleep(0.5)
        return {**program.wait_for("result", 60), "half_open_s": half_open}


def checks(bench, host, seconds):
    """ICE checks with wrong passwords."""
    with _attack(bench, host, "checks", seconds) as program:
        return {**program.wait_for("result", seconds + 60), "rate": RATES["checks"], "seconds": seconds}


#: By name: the function, and for how many seconds.
ALL = {"busy": (busy, 10), "joins": (joins, 60), "hellos": (hellos, 10), "checks": (checks, 10)}
