"""What was seen of a scene's counter. Pure: lists of [value, seconds] in, counts out."""


def first_times(drawn):
    """When each count was drawn first, by the count."""
    times = {}
    for count, when in drawn:
        times.setdefault(count, when)
    return times


def painted_first(pictures, drawn):
    """When a compositor painted each count first, by the count, where that is known.

    `pictures` has [count, when the first change in it was painted, or None] of each captured picture, in order; `drawn`
    is when the client handed each count to the compositor. The first change in a picture may be older than its count:
    that of a picture which it has replaced. No count is painted before it is handed over.
    """
    first = first_times(one for one in pictures if one[0] in drawn)
    return {count: max(when, drawn[count]) for count, when in first.items() if when is not None}


def new_counts(shown, drawn):
    """(seconds, count) of each count of `drawn` that was shown after all smaller ones.

    A value that was never drawn is half of a change, and one from before is shown again.
    """
    found, highest = [], -1
    for count, when in shown:
        if count in drawn and count > highest:
            highest = count
            found.append((when, count))
    return found
