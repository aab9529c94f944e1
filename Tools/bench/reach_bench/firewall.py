"""What the host's network lets in: rules of nftables, which go with its network namespace."""

import shutil

from bench_kit.processes import Missing

_RULES = """
table inet reach {
    chain arrivals {
        type filter hook input priority 0; policy drop;
        iifname "lo" accept
        %s accept
    }
}
"""


def allow(network, rule):
    """Drops whatever comes from elsewhere, unless this expression of nftables fits it."""
    if not shutil.which("nft"):
        raise Missing("nft is missing; Tools/setup installs it (Debian: nftables)")
    network.run("nft", "-f", "-", text=_RULES % rule)
