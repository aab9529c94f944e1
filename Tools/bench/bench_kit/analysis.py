"""What a viewer saw in a phase, from what the page and the path recorded. Pure: records in, figures out."""

import bisect
import statistics

#: No new picture for more than so many seconds, while the scene changes, is a freeze.
FREEZE = 0.2
#: Delays count from so many seconds after a phase has begun.
SETTLE = 2.0
#: The picture is back when each later stretch of so many seconds has this share of the scene's pictures. (A scrolled
#: text begins again every 10 s, which repaints all of it and takes a part of a second on a narrow link.)
BACK_SECONDS, BACK = 2.0, 0.6
COUNTERS = ["bytesReceived", "headerBytesReceived", "packetsReceived", "packetsLost", "retransmittedPacketsReceived",
            "retransmittedBytesReceived", "framesDecoded", "framesDropped", "keyFramesDecoded", "qpSum", "nackCount",
            "pliCount", "corruptionMeasurements", "totalCorruptionProbability"]


class Timeline:
    """The scene's: when each count of its counter was painted. Times are seconds of CLOCK_MONOTONIC."""

    def __init__(self, start, facts):
        self.start = start
        self.step = facts.ticks_per_count / facts.ticks_per_second

    def painted(self, count):
        return self.start + count * self.step

    def whole(self, counter, shown):
        """The count that a counter of 16 bits shows at this time; it wraps round every half hour."""
        expected = (shown - self.start) / self.step
        return counter + 65536 * round((expected - counter) / 65536 - 0.01)


def new_pictures(pictures, timeline):
    """(shown, count) of each picture that is newer than all before."""
    result, last = [], -1
    for one in sorted(pictures, key=lambda one: one["shown"]):
        if one["counter"] is None:
            continue
        count = timeline.whole(one["counter"], one["shown"])
        if count > last:
            last = count
            result.append((one["shown"], count))
    return result


def share(values, part):
    """The value below which `part` (0 to 1) of the values are; None of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else None


class Cumulative:
    """The browser's counters over time; one that begins again at 0 (a new connection) goes on."""

    def __init__(self, records):
        self.times, self.values = [], {key: [] for key in COUNTERS}
        offset, last = dict.fromkeys(COUNTERS, 0), None
        for one in sorted(records, key=lambda one: one["time"]):
            video = one["video"]
            if last is not None and video["ssrc"] != last["ssrc"] or (
                    last is not None and video["packetsReceived"] < last["packetsReceived"]):
                for key in COUNTERS:
                    offset[key] += last.get(key, 0)
            last = video
            self.times.append(one["time"])
            for key in COUNTERS:
                self.values[key].append(offset[key] + video.get(key, 0))

    def between(self, key, start, end):
        return self._at(key, end) - self._at(key, start) if self.times else None

    def _at(self, key, time):
        after = bisect.bisect_left(self.times, time)
        values = self.values[key]
        if after == 0:
            return values[0]
        if after == len(self.times):
            return values[-1]
        begin, finish = self.times[after - 1], self.times[after]
        return values[after - 1] + (values[after] - values[after - 1]) * (time - begin) / (finish - begin)


def of_pictures(shown, timeline, start, end):
    """Figures from the pictures' times alone: delays in ms, freezes, pictures a second."""
    seconds = end - start
    settled = min(start + SETTLE, start + seconds / 2)
    delays = [(time - timeline.painted(count)) * 1000 for time, count in shown if settled <= time < end]
    times = [time for time, _ in shown if start <= time < end]
    # A picture from before the phase stands until the first in it; the gap at the end goes on until the end.
    edges = [start] + times + [end]
    before = [time for time, _ in shown if time < start]
    first_gap = edges[1] - (before[-1] if before else start)
    gaps = [after - begin for begin, after in zip(edges, edges[1:])]
    frozen = [gap for number, gap in enumerate(gaps) if (first_gap if number == 0 else gap) > FREEZE]
    return {
        "delay_p50_ms": share(delays, 0.5), "delay_p95_ms": share(delays, 0.95), "delay_p99_ms": share(delays, 0.99),
        "delay_max_ms": max(delays) if delays else None,
        "age_p95_ms": share(_ages(shown, timeline, settled, end), 0.95),
        "pictures_per_second": len(times) / seconds,
        "settled_pictures_per_second": sum(1 for time in times if time >= settled) / (end - settled),
        "frozen_seconds": sum(frozen), "freezes_per_minute": len(frozen) * 60 / seconds,
        "longest_gap_ms": max(gaps) * 1000,
        "back_after_seconds": _back(times, start, end, 1 / timeline.step)}


def _ages(shown, timeline, start, end):
    """How old what the viewer sees is, in ms, every 10 ms."""
    times = [time for time, _ in shown]
    ages = []
    for step in range(int((end - start) * 100)):
        time = start + step / 100
        place = bisect.bisect_right(times, time)
        if place:
            ages.append((time - timeline.painted(shown[place - 1][1])) * 1000)
    return ages


def _back(times, start, end, rate):
    """Seconds after the start since when each stretch has most of the scene's pictures; None if the last has not."""
    back, place = None, end - BACK_SECONDS
    while place >= start:
        count = bisect.bisect_left(times, place + BACK_SECONDS) - bisect.bisect_left(times, place)
        if count < BACK * BACK_SECONDS * min(rate, 30):
            break
        back, place = place - start, place - 0.1
    return back


def of_statistics(records, cumulative, start, end):
    """Figures from the browser's counters."""
    if not cumulative.times:
        return {}
    counted = {key: cumulative.between(key, start, end) for key in COUNTERS}
    seconds, decoded = end - start, counted["framesDecoded"]
    inside = [one for one in records if start <= one["time"] < end]
    trips = [one["pair"]["currentRoundTripTime"] * 1000 for one in inside
             if "currentRoundTripTime" in one.get("pair", {})]
    said = [one["said"] for one in inside if one["said"] is not None and one["time"] >= start + SETTLE]
    return {
        "received_kbps": (counted["bytesReceived"] + counted["headerBytesReceived"]) * 8 / seconds / 1000,
        "quantizer": counted["qpSum"] / decoded if decoded >= 1 else None,
        "decoded": round(decoded), "key_frames": round(counted["keyFramesDecoded"]),
        "retransmitted": round(counted["retransmittedPacketsReceived"]),
        "retransmitted_share": (counted["retransmittedBytesReceived"] / counted["bytesReceived"]
                                if counted["bytesReceived"] > 0 else None),
        "missing": round(counted["packetsLost"]), "nacks": round(counted["nackCount"]),
        "plis": round(counted["pliCount"]),
        "checked": round(counted["corruptionMeasurements"]), "damage": counted["totalCorruptionProbability"],
        "page_says_ms": share(said, 0.5), "round_trip_p50_ms": share(trips, 0.5)}


def of_path(report, phase, start, end, rate):
    """Figures from the path towards the viewer: what went over it and what it dropped."""
    size = sum(count for time, count in report["bytes"] if start <= time < end)
    waits = [wait for time, wait in report["waiting"] if start <= time < end]
    kbps = size * 8 / (end - start) / 1000
    return {"link_kbps": kbps, "link_share": kbps * 1000 / rate if rate else None, "dropped": phase.get("dropped", 0),
            "lost": phase.get("lost", 0), "sent": phase.get("packets", 0),
            "queue_max_ms": max(waits) * 1000 if waits else 0.0}


def of_estimates(estimates, start, end, rate):
    """Figures from the host's estimate for this viewer, where it tells one."""
    inside = [(time, value) for time, value in estimates if start <= time < end]
    if not inside:
        return {"estimate_kbps": None, "estimate_settled_seconds": None}
    late = [value for time, value in inside if time >= start + (end - start) / 2] or [inside[-1][1]]
    settled = None
    if rate:
        for time, value in reversed(inside):
            if not 0.6 * rate <= value <= rate:
                break
            settled = time - start
    return {"estimate_kbps": statistics.median(late) / 1000, "estimate_settled_seconds": settled}
