"""What was measured, as a table and as JSON."""

import statistics

from bench_kit.report import number, pair, table

from .options import HOST

NAMES = {"view": "view", "chromium": "Chromium"}
NOTE = ("Paint to shown: from the X server's painting until the framebuffer of the viewer's X server shows it, from 2 "
        "s after the phase's start. %s Freezes: gaps of more than 200 ms between two new frames. CPU time is of the "
        "viewer and all that it has started, and of its X server; memory is their proportional set size at the end of "
        "the phase, without the X server's, in MB of 10^6 bytes.")
#: At the host, with the shortest time in one direction, and at a server of others.
OWN = ("Own figure: what the page's line says, and view's reports with the page's median over 3 s; view leaves out the "
       "network's shortest time in one direction (%g ms here), the wait for the capture and the drawing.")
OTHERS = ("Chromium plays it in a page that asks for no smaller jitter buffer and has no figure of its own; view's goes "
          "by the server's sender reports.")


#: Column, and how it is made from a phase's figures.
COLUMNS = [
    ("paint to shown p50 / p95 ms", lambda one: pair(one, "delay_p50_ms", "delay_p95_ms")),
    ("own figure p50 / p95 ms", lambda one: pair(one, "own_p50_ms", "own_p95_ms")),
    ("frames/s", lambda one: number(one["pictures_per_second"], 1)),
    ("freezes/min", lambda one: number(one["freezes_per_minute"], 1)),
    ("frozen s", lambda one: number(one["frozen_seconds"], 1)),
    ("CPU ms/s", lambda one: number(one["cpu"])),
    ("X server ms/s", lambda one: number(one["server_cpu"])),
    ("memory MB", lambda one: number(one["memory_mb"])),
]


def lines(summary):
    """A table with two rows for each phase: view's and Chromium's."""
    figures = {(kind, phase): found for kind, phase, found in summary.rows()}
    rows = [[phase.name, NAMES[kind], *(make(figures[kind, phase.name]) for _, make in COLUMNS)]
            for phase in summary.course.narrow for kind in NAMES]
    return table(["phase", "viewer", *(name for name, _ in COLUMNS)], rows)


def notes(options, summary):
    """What the columns mean, and how busy the machine was."""
    if options.server == HOST:
        return [NOTE % (OWN % (options.round_trip / 2)), "", summary.host_line()]
    busy = statistics.median(run["busy"] for run in summary.runs)
    return [NOTE % OTHERS, "", "This machine was %.0f %% busy." % (100 * busy)]
