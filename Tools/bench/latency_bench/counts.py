"""What was seen of a scene's counter. Pure: lists of [value, seconds] in, counts out."""


def first_times(drawn):
    """When each count was drawn first, by the count."""
    times = {}
    for count, when in drawn:
        times.setdefault(count, when)
    return times


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
