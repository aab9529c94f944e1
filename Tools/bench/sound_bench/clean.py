"""Clean: a tone of 440 Hz through the whole way, and what the page hears of it."""

import os
import time

import numpy

from bench_kit.limits import at_least, at_most
from bench_kit.namespaces import HostNetwork, Path, obstacle
from bench_kit.path import settings
from bench_kit.processes import Failure, now_ns

from . import limits, tone
from .pulse import RATE, Player, recorder
from .stage import Stage

TITLE = "Clean"
NOTE = (
    "A tone of %d Hz at %g of full scale, as the page gets it. The SNR is that beside the sine that fits a piece "
    "best, in pieces of a second, and of a tenth, which a slow wander of the pitch doesn't touch. A gap is 5 ms or "
    "more with a tenth of the loudness or less; a click is a second difference 12 times that of the tone. The sink's "
    "own figures, recorded in the same seconds, show what was played: a fault there is not the share's. Errors: gaps "
    "are counted in steps of 5 ms, and a shorter one is found as a click. Packets are lost on the way to the viewer, "
    "whose round trip is 40 ms." % (tone.TONE, tone.LOUDNESS))
COLUMNS = ["case", "SNR median dB", "worst dB", "tenths median dB", "gaps", "longest ms", "clicks", "lost %",
           "made up %", "the sink's SNR dB", "its gaps", "its clicks", "busy"]
SECONDS, LEAD, TAKE_EVERY = 20, 5.0, 2.0
#: ms that PulseAudio keeps ready, so that the tone never breaks off at its source.
LATENCY = 200
DELAY = 20  # ms, one way, where packets are lost
#: The seed of losses.
SEED = 1


def cases(options):
    return ["no loss"] + ["%g %% loss" % loss for loss in options.losses]


def skipped(case):
    """Why a case can't be measured on this machine; None if it can."""
    return obstacle() if loss_of(case) else None


def loss_of(case):
    return 0.0 if case == "no loss" else float(case.split()[0])


def measure(bench, folder, case):
    loss = loss_of(case)
    network, path = None, None
    try:
        if loss:
            network = HostNetwork(folder)
            path = Path(network, 1, SEED, folder)
            path.change(now_ns() / 1e9, "loss", settings(delay=DELAY, loss=loss / 100), settings(delay=DELAY))
        with Stage(bench, folder, network=network) as stage:
            return _hear(bench, stage, path)
    finally:
        for one in (path, network):
            if one:
                one.close()


def _hear(bench, stage, path):
    environment = stage.pulse.environment
    stage.add(Player(tone.second(RATE), LATENCY, stage.folder, environment))
    viewer = stage.add_viewer(path)
    viewer.turn_on_sound()
    stage.wait_for_packets(viewer)
    if bench.options.tap == "worklet":
        viewer.listen(keeps_samples=True)
    else:
        viewer.evaluate("soundBench.startRecord()")
    time.sleep(LEAD)
    viewer.take_samples()
    before = viewer.sound()
    stage.begin_account()
    played = os.path.join(stage.folder, "played.raw")
    with open(played, "wb") as file:
        ear = recorder(LATENCY, stage.folder, environment, stdout=file)
        stage.callback(ear.stop)
        end, pieces = time.monotonic() + SECONDS, []
        while time.monotonic() < end:
            time.sleep(max(0.0, min(TAKE_EVERY, end - time.monotonic())))
            piece, rate = viewer.take_samples()
            pieces.append(piece)
        busy, after = stage.busy(), viewer.sound()
        stage.room.share.require_running()
        ear.stop()
    heard = numpy.concatenate(pieces)
    if len(heard) < 0.9 * SECONDS * rate:
        raise Failure("the page got %.1f s of sound in %d s" % (len(heard) / rate, SECONDS))
    if bench.options.keep:
        os.makedirs(bench.options.out, exist_ok=True)
        numpy.save(os.path.join(bench.options.out, "heard-%s.npy" % os.path.basename(stage.folder)), heard)
    data = numpy.fromfile(played, numpy.float32)
    data = data[:len(data) // 2 * 2:2]
    if len(data) < 0.9 * SECONDS * RATE - RATE:
        raise Failure("parec recorded %.1f s of the sink in %d s" % (len(data) / RATE, SECONDS))
    # A recording stream may begin with silence of its own.
    source = tone.figures(data[RATE:], RATE)
    return dict(tone.figures(heard, rate), busy=busy, **counted(before, after),
                **{"sink_" + key: value for key, value in source.items()})


def counted(before, after):
    """What the browser counted, in percent."""
    def grown(key):
        return after.get(key, 0) - before.get(key, 0)

    packets, samples = grown("packetsReceived") + grown("packetsLost"), grown("totalSamplesReceived")
    return {"lost_percent": 100 * grown("packetsLost") / packets if packets else 0.0,
            "concealed_percent": 100 * grown("concealedSamples") / samples if samples else 0.0,
            "retransmitted": grown("retransmittedPacketsReceived"), "by_fec": grown("fecPacketsReceived"),
            "added_samples": grown("insertedSamplesForDeceleration"),
            "removed_samples": grown("removedSamplesForAcceleration")}


def row(one):
    return ["%.1f" % one[key] for key in ("snr_median_db", "snr_worst_db", "snr_tenths_median_db")] + [
        "%d" % one["gaps"], "%.0f" % one["longest_gap_ms"], "%d" % one["clicks"], "%.1f" % one["lost_percent"],
        "%.2f" % one["concealed_percent"], "%.1f" % one["sink_snr_median_db"], "%d" % one["sink_gaps"],
        "%d" % one["sink_clicks"], "%.0f %%" % (100 * one["busy"])]


def checks(case, one):
    loss, found = loss_of(case), []
    if loss in limits.CLEAN_SNR:
        found.append(at_least("clean, %s, median SNR" % case, one["snr_median_db"], limits.CLEAN_SNR[loss], "dB"))
    if loss in limits.LONGEST_GAP:
        found.append(at_most("clean, %s, longest gap" % case, one["longest_gap_ms"], limits.LONGEST_GAP[loss], "ms"))
    if loss in limits.CLICKS:
        found.append(at_most("clean, %s, clicks" % case, one["clicks"], limits.CLICKS[loss], "in %d s" % SECONDS))
    return found
