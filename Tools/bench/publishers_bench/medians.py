"""The medians of several runs."""

import statistics


def medians(runs):
    """Of each figure, over the runs in which it was measured; of a text, the last one."""
    found = {}
    for name in runs[0]:
        there = [run[name] for run in runs if run[name]]
        if there:
            latest = {key: value for one in there for key, value in one.items()}
            found[name] = {key: value if isinstance(value, str) else middle(key, there)
                           for key, value in latest.items()}
    return found


def middle(key, there):
    """The median over those that have this figure."""
    return statistics.median(one[key] for one in there if key in one)
