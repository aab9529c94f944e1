"""How a measurement begins and ends: its folder, what is said last, and the exit code."""

import os
import shutil
import signal
import sys
import tempfile

from .processes import Missing

OK, MISSED, MISSING, FAILED, REFUSED = 0, 1, 69, 70, 77


def carry_out(tool, measure, folder=None):
    """Gives the exit code of `measure(folder)`. Without a folder that stays, it gets one that is removed afterwards."""
    # Whoever ends this ends all that it has started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if folder:
        os.makedirs(folder, exist_ok=True)
    # Sockets go into it, and their paths are short by law (108 bytes).
    own = None if folder else tempfile.mkdtemp(prefix="srb")
    try:
        return measure(folder or own)
    except Missing as error:
        say(tool, "%s" % error)
        return MISSING
    except KeyboardInterrupt:
        say(tool, "interrupted")
        return FAILED
    finally:
        if own:
            shutil.rmtree(own, ignore_errors=True)


def skip(names, problem):
    """Reports that these were skipped, and why; gives the exit code."""
    for name in names:
        print("skipped: %s: %s" % (name, problem))
    return REFUSED


def conclude(failures, checks, says_limits):
    """Prints what has failed and, if asked, which limits are missed; gives the exit code."""
    for failure in failures:
        print("failed: " + failure)
    missed = [check for check in checks if not check.is_kept]
    if says_limits:
        for check in missed:
            print("missed: %s: %s, %s" % (check.what, check.value, check.limit))
        print("%d of %d limits are kept" % (len(checks) - len(missed), len(checks)))
    if failures:
        return FAILED
    return MISSED if says_limits and missed else OK


def say(tool, text):
    sys.stderr.write("Tools/bench/%s: %s\n" % (tool, text))
