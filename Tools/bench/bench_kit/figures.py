"""The arithmetic of runs."""

import statistics


def medians(runs):
    """The medians of the runs' figures, through all levels of dictionaries. A run that lacks a figure doesn't count there,
    and one that no run has is None. Of texts, it is the last one; lists are left out."""
    found = {}
    for key in dict.fromkeys(key for run in runs for key in run):
        values = [run[key] for run in runs if run.get(key) not in (None, "")]
        if not values or isinstance(values[0], (int, float)):
            found[key] = statistics.median(values) if values else None
        elif isinstance(values[0], dict):
            found[key] = medians(values)
        elif isinstance(values[0], str):
            found[key] = values[-1]
    return found
