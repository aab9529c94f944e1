"""A certificate that OBS trusts, without a change to this machine's store.

OBS checks certificates against all files in /etc/ssl/certs, and no variable names another folder. So it gets a mount
namespace of its own, in which a folder with only this certificate is there.
"""

import os
import shutil
import subprocess

from bench_kit.processes import Failure

STORE = "/etc/ssl/certs"
MOUNT = "mount --bind \"$0\" %s && exec \"$@\"" % STORE
#: The name in the certificate: OBS's TLS knows no addresses in it.
NAME = "localhost"


def certificate(folder):
    """Makes one in a folder that `trusting` shows OBS; gives the host's options for it."""
    store, key = os.path.join(folder, "store"), os.path.join(folder, "key.pem")
    os.makedirs(store)
    path = os.path.join(store, "certificate.pem")
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + NAME, "-addext",
         "subjectAltName=DNS:" + NAME, "-keyout", key, "-out", path],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    if made.returncode:
        raise Failure("openssl: " + made.stderr[-200:].decode(errors="replace"))
    return ["--tls-cert", path, "--tls-key", key]


def trusting(folder):
    """What starts a program that finds only the certificates in this folder."""
    return _in_namespace(os.path.join(folder, "store"))


def _in_namespace(store):
    # Without root, the namespace belongs to a user namespace, where this user is root.
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *user, "sh", "-c", MOUNT, store]


def obstacle():
    """Why OBS can't trust a certificate on this machine; None if it can."""
    for tool in ("openssl", "unshare", "mount"):
        if not shutil.which(tool):
            return tool + " is missing"
    tried = subprocess.run([*_in_namespace("/tmp"), "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    return "no mount namespace over %s: %s" % (STORE, tried.stderr.decode(errors="replace").strip()) \
        if tried.returncode else None
