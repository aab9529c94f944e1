"""The figures of a run, and of several. Pure: times in, figures out."""

from bench_kit.analysis import share
from bench_kit.counts import new_counts


def spread(delays, seconds):
    """The figures of delays in milliseconds, which were measured in so many seconds."""
    return {"p50_ms": share(delays, 0.5), "p95_ms": share(delays, 0.95), "p99_ms": share(delays, 0.99),
            "max_ms": max(delays), "shown_per_second": len(delays) / seconds}


def delays_of(shown, painted, start, seconds):
    """Milliseconds until each count was shown, of those that were painted in the window."""
    return [(when - painted[count]) * 1000 for when, count in new_counts(shown, painted)
            if start <= painted[count] < start + seconds]
