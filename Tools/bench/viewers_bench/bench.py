"""One measurement for each number of viewers."""

import os

from bench_kit import bench, client, janus
from bench_kit.bench import REPOSITORY
from bench_kit.outcome import say
from bench_kit.processes import Failure, Missing, require_programs
from bench_kit.recording import record
from bench_kit.replaying import Host

from . import paths, shards, streams
from .beside import Janus
from .generator import Program
from .options import PROGRAMS
from .watch import Watch, most_at_low_rate

#: Seconds between the last join and the measurement, and those that the rest of a step may take.
WARM, START = 3, 60


def tell(text):
    say("viewers", text)


class Bench(bench.Bench):
    def __init__(self, options, folder):
        require_programs({"taskset": "util-linux"})
        for core in (options.host_core, options.core):
            if core not in os.sched_getaffinity(0):
                raise Missing("processor %d can't be used" % core)
        problem = options.janus and (client.missing() or janus.missing())
        if problem:
            raise Missing(problem)
        super().__init__(options, folder, PROGRAMS, package=os.path.join(REPOSITORY, "Tools", "bench"),
                         scratch=os.path.join(REPOSITORY, ".build", "viewers-bench"))
        self.recording = options.recording
        if not self.recording and not options.scenes:
            self.recording = record(self.program, options, self.new_folder())
        # Only the host, and what stands in for it, runs on its processor; they choose it themselves.
        os.sched_setaffinity(0, {options.core})

    def say(self, text):
        tell(text)

    def generate(self, link, viewers, seconds, folder, emulated=(), warm=WARM):
        """Viewers that are measured for so long; None measures the phases that the program's `mark` begins and ends."""
        options = self.options
        if options.by == "whep":
            words = ["generate", "--feedback", options.feedback] + ["--no-offer"] * options.no_offer
            words += ["--false-reports"] * options.false_reports
        else:
            words = streams.words(options.by)
        words += ["--viewers", str(viewers), "--join-rate", str(options.join_rate), "--warm", "%ds" % warm,
                  "--core", str(options.core)]
        words += ["--phases"] if seconds is None else ["--seconds", "%gs" % seconds]
        words += ["--path=" + path for path in emulated]
        return Program(self.program("bench-viewers"), words + [link], folder)

    def measure(self, viewers, folder, threads=None):
        """A row: a host of its own, so that its memory is that of these viewers."""
        more = shards.environment(threads, folder) if threads else {}
        host = Host(self.program, self.recording, self.options, folder, self.options.host_core, more=more)
        is_whep = self.options.by == "whep"
        result = {**self.watch(host, viewers, folder, counts_low_rate=is_whep), "threads": threads}
        return {**result, **(self.floor(viewers, result, folder) if is_whep else {})}

    def measure_janus(self, viewers, folder):
        """The same row, but of Janus instead of the host, and without the floor."""
        host = Janus(self, folder, lambda core, words, address: Host(
            self.program, self.recording, self.options, folder, core, ["--lan", "--listen", address + ":0", *words]))
        return self.watch(host, viewers, folder)

    def watch(self, host, viewers, folder, counts_low_rate=False):
        """What the viewers got, and what they cost; `host` is closed."""
        options = self.options
        limit = START + viewers / options.join_rate + options.seconds
        try:
            self.watch_once(host, folder)
            memory = host.memory()
            with self.generate(host.link, viewers, options.seconds, folder, options.paths) as crowd:
                crowd.wait_for("measuring", limit)
                renditions = paths.Renditions(host, options.paths, viewers) if options.paths else None
                before, media_before = host.threads(), host.media_threads()
                # /metrics has their number; a list of all viewers would cost the host more each second.
                watch = Watch(host) if counts_low_rate else None
                if watch:
                    watch.start()
                crowd.wait_for("measured", options.seconds + 30)
                after, media, grown = host.threads(), host.media_threads(), host.memory() - memory
                found = renditions.finish() if renditions else []
                low_rate = most_at_low_rate(watch.finish()) if watch else None
                # The pictures of one viewer are decoded before it.
                result = crowd.wait_for("result", 30 + options.seconds)
            host.require_running()
        finally:
            host.close()
        if not result["packets"] or not result["joined"]:
            raise Failure("the viewers got nothing: %s" % result.get("failure"))
        threads = {name: time - before.get(name, 0) for name, time in after.items()}
        joined = sum(one["joined"] for one in [result, *result["odd"]])
        return {**result, "renditions": found, "low_rate": low_rate, "threads_ns": threads,
                "memory_kib": grown / joined,
                "media_ns": [time - media_before.get(number, 0) for number, time in media.items()],
                **self.cost(threads, result)}

    def watch_once(self, host, folder):
        """The first viewer of a host waits for the replay as well."""
        with self.generate(host.link, 1, 1, folder) as first:
            if first.wait_for("result", START)["joined"] != 1:
                raise Failure("the first viewer got no picture")

    def cost(self, threads, result):
        """The host's CPU time: percent of a processor, and microseconds for each packet."""
        senders = streams.THREADS.get(self.options.by, ["media"])
        used = {"host": sum(threads.values()), "media": sum(threads.get(name, 0) for name in senders)}
        packets = sum(one["packets"] + one["path_drops"] for one in [result, *result["odd"]])
        return {key: value for name, time in used.items() for key, value in (
            (name + "_percent", time / 1e7 / result["seconds"]), (name + "_us", time / 1e3 / packets))}

    def floor(self, viewers, result, folder):
        """The least that these packets can cost on this machine."""
        size = round(result["bytes"] / result["packets"])
        pictures = result["pictures"] * result["joined"]
        media = result["packets"] - result["retransmissions"] - result["paddings"]
        train = min(40, max(1, media / pictures)) if pictures else 2.6
        words = ["floor", "--viewers", str(viewers), "--size", str(min(1472, max(64, size))), "--packets-per-picture",
                 "%.2f" % train, "--seconds", "1s", "--core", str(self.options.core), "--sender-core",
                 str(self.options.host_core)]
        with Program(self.program("bench-viewers"), words, folder) as program:
            found = program.wait_for("floor", START)
        return {"packet_bytes": size, "packets_per_picture": train,
                **{"floor_" + key: found[key] for key in ("encryption_us", "sendto_us", "segmented_us",
                                                          "dropped_percent")}}
