"""What the host's network lets in: rules of nftables, which go with its network namespace."""

import shutil
import subprocess

from capture_bench.processes import Failure, Missing


def allow(network, rule):
    """Drops whatever comes from elsewhere, unless this expression of nftables fits it."""
    if not shutil.which("nft"):
        raise Missing("nft is missing; Tools/setup installs it (Debian: nftables)")
    rules = ("table inet reach {\n chain arrivals {\n  type filter hook input priority 0; policy drop;\n"
             "  iifname \"lo\" accept\n  %s accept\n }\n}\n" % rule)
    done = subprocess.run([*network.prefix, "nft", "-f", "-"], input=rules.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=10)
    if done.returncode != 0:
        raise Failure("nft refuses the rules: " + done.stdout.decode(errors="replace")[-300:])
