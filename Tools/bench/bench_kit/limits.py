"""A limit, and what was measured against it."""


class Check:
    """One limit, and what was measured."""

    def __init__(self, what, value, limit, is_kept):
        self.what, self.value, self.limit, self.is_kept = what, value, limit, is_kept


def at_most(what, value, limit, unit):
    return Check(what, "%.4g %s" % (value, unit), "at most %g %s" % (limit, unit), value <= limit)


def at_least(what, value, limit, unit):
    return Check(what, "%.4g %s" % (value, unit), "at least %g %s" % (limit, unit), value >= limit)
