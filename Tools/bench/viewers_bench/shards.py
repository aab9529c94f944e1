"""More media threads than this machine has processors for, all on the host's one: what a packet costs with them, and how
evenly they share the packets. So much more the threads carry on processors of their own, but for what these share."""

import os
import subprocess

from bench_kit.processes import Failure

from . import figures

# The host has a media thread for each processor that it may use, from three on.
SHIM = """
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) {
    memset(set, 0, size);
    for (int k = 0; k < %d; k++) CPU_SET(k, set);
    return 0;
}
"""


def environment(threads, folder):
    """What makes a host believe that it has so many processors."""
    source, library = os.path.join(folder, "processors.c"), os.path.join(folder, "processors.so")
    with open(source, "w") as file:
        file.write(SHIM % threads)
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise Failure("cc: %s" % error)
    return {"LD_PRELOAD": library}


def line(rows):
    """What the busiest thread did, in words; `rows` are without and with the threads."""
    one, many = rows[0], rows[-1]
    return "%d media threads: %.2f µs per packet together, one thread %.2f; the busiest had %.0f %% of the work: %.2f " \
        "times what one thread carries." % (
            len(many["media_ns"]), many["media_us"], one["media_us"], 100 * figures.busiest_share(many),
            figures.carried(one, many))
