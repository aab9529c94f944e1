"""Measures what publishers over RTMP, SRT and RTSP cost a host, the delay of each way, and OBS as a publisher."""

import os
import sys

from bench_kit import options as of
from bench_kit.bench import Bench
from bench_kit.figures import medians
from bench_kit.outcome import carry_out, conclude
from bench_kit.processes import Missing, require_programs
from bench_kit.report import processor, table, write_json

from . import delay, many, obs
from .obs_report import tell_obs

PARTS = {"many": many, "delay": delay, "obs": obs}


def parse(arguments):
    parser = of.Parser(
        "publishers", """
        Measures publishers over RTMP, SRT and RTSP: FFmpeg publishes to a host that has a processor of its own, and OBS
        to one that shares all processors. Writes publishers.json after each run.""", [
            of.parts("parts", PARTS),
            of.number("--seconds-many", 60, 1.0, 600, "S", "how long the publishers of many count"),
            of.seconds(10, 1, 600, "how long each way counts in delay and obs"), of.runs(3),
            of.number("--host-core", 0, 0, 1023, "N", "the host's processor, except in obs"),
            of.number("--core", 1, 0, 1023, "N", "the processor of everything else, except in obs"),
            of.out("publishers"), of.CHECK, of.programs("screenrelay, and for obs screenrelay-scene,"), of.KEEP],
        notes="""
        parts:
          many   ten publishers over RTMP, five over SRT and five over RTSP send 1280x720 at 30 fps and 2 Mbit/s:
                 the host's CPU time for each, the frames that are missing, and the spread of their delays
          delay  from when a frame is there for FFmpeg, which encodes it, until all of it is at an RTSP player,
                 with and without B-frames, next to FFmpeg alone; 640x360 at 30 fps
          obs    OBS without a person, which shows a scrolled text on an X display and plays a tone, over RTMP, SRT
                 and RTMPS, next to FFmpeg: the delay, what Chromium shows and plays, the time until the video
                 moves again after OBS was killed, and what OBS reports of a wrong stream key; 1280x720 at 30 fps""")
    options = parser.parse_args(arguments)
    if options.host_core == options.core:
        parser.error("--host-core %d and --core %d: two processors are needed" % (options.host_core, options.core))
    return options


#: The rows of both tables, which Documentation/measurements.md has too.
ROWS = {"rtmp": "RTMP", "srt": "SRT", "rtsp": "RTSP", "all": "all", "ffmpeg": "FFmpeg alone"}


def tell_many(figures):
    def cells(one):
        # FFmpeg alone is no publisher, and costs the host nothing.
        used = ["%d" % one["publishers"], "%.1f ms" % one["cpu"]] if "cpu" in one else ["", ""]
        if "taken" in one:
            return [*used, "%.0f %%, %.0f %%" % (one["percent"], one["decoding_percent"]),
                    "%.2f %%" % (100 * one["taken"]), "", ""]
        return [*used, "", "", "%d of %d" % (one["missing"], one["played"] + one["missing"]),
                "%.1f, %.1f ms" % (one["spread_p95"], one["spread_max"])]

    return table(["over", "publishers", "host: CPU time per second for each", "of a core: host, decode-tap",
                  "pictures that arrived", "missing at a player", "spread of the delay: p95, largest"],
                 [[ROWS[name], *cells(one)] for name, one in figures.items()])


def tell_delay(figures):
    def cells(way):
        found, missing = [], []
        for has_b_frames in (False, True):
            one = figures.get(delay.title(way, has_b_frames))
            found += ["%.1f, %.1f ms" % (one["p50"], one["p95"]) if one else "failed",
                      "%.1f, %.1f ms" % (one["added_p50"], one["added_p95"]) if one and way != delay.ALONE else ""]
            missing.append("%d" % one["missing"] if one else "")
        return [*found, ", ".join(missing)]

    return table(["over", "without B-frames: p50, p95", "added: p50, p95", "with B-frames, re-encoded: p50, p95",
                  "added: p50, p95", "missing: without, with B-frames"],
                 [[ROWS[way], *cells(way)] for way in delay.WAYS])


TELL = {"many": tell_many, "delay": tell_delay, "obs": tell_obs}


def main():
    options = parse(sys.argv[1:])
    return carry_out("publishers", lambda folder: measure_all(options, folder))


def measure_all(options, folder):
    require_programs({"taskset": "util-linux", "ffmpeg": "ffmpeg"})
    if "obs" in options.parts:
        obs.require()
    for core in (options.host_core, options.core):
        if core not in os.sched_getaffinity(0):
            raise Missing("processor %d can't be used" % core)
    programs = ["screenrelay", "screenrelay-scene"] if "obs" in options.parts else ["screenrelay"]
    bench, failures, runs = Bench(options, folder, programs), [], {name: [] for name in options.parts}
    cores = os.sched_getaffinity(0)
    for number in range(options.runs):
        for name in options.parts:
            # The host chooses its processor itself. OBS, without a GPU, needs more than one.
            os.sched_setaffinity(0, cores if name == "obs" else {options.core})
            for figures in bench.run_once(name, lambda folder, _: PARTS[name].measure(bench, folder), failures, number):
                failures += ["%s, run %d: %s" % (name, number + 1, one) for one, found in figures.items() if not found]
                runs[name].append({one: found for one, found in figures.items() if found})
            # Keeps the results if the benchmark is stopped before its last run.
            write(options, runs, failures)
    found = []
    for name, there in runs.items():
        if there:
            middle = medians(there)
            found += PARTS[name].checks(middle)
            print("\n".join(["## " + name, "", *TELL[name](middle), ""]), flush=True)
    print(processor() + ".")
    return conclude(failures, found, options.check)


def write(options, runs, failures):
    parts = {name: {"medians": medians(there), "runs": there} for name, there in runs.items() if there}
    found = [one for name, part in parts.items() for one in PARTS[name].checks(part["medians"])]
    write_json(options, "publishers", found, parts=parts, failures=failures)


sys.exit(main())
