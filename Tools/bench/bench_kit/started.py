"""What a measurement has started."""

import contextlib


class Started(contextlib.ExitStack):
    """Ends all that it has started in the opposite order."""

    def add(self, one):
        """Closes this one at the end; gives it."""
        self.callback(one.close)
        return one
