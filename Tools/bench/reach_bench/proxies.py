"""The reverse proxies, configured as Documentation/operating.md has it, and the certificate that they show."""

import os
import shutil
import subprocess

from bench_kit.bench import REPOSITORY
from bench_kit.processes import Failure, Missing, Process, wait_until
from bench_kit.room import PORT
from outputs_bench import server

#: Where `Tools/setup` unpacks it, with the libraries that it alone needs.
HAPROXY = os.path.join(REPOSITORY, ".build", "haproxy", "usr")
LIBRARIES = os.path.join(HAPROXY, "lib", "x86_64-linux-gnu")
PORTS = {"http": 80, "https": 443}
#: The share's options behind one of these, for viewers who open `origin`.
SHARE = ["--trusted-proxy", "127.0.0.1", "--allow-origin"]


class Proxy:
    """A proxy before the host, in its network namespace."""

    def __init__(self, network, address, folder):
        """It listens for http and for https at this address."""
        self.folder = os.path.join(folder, self.name)
        os.makedirs(self.folder)
        make_certificate(address, self.folder)
        path = os.path.join(self.folder, "configuration")
        with open(path, "w") as file:
            file.write(self.configuration % {
                "address": address, "host": "127.0.0.1:%d" % PORT, "folder": self.folder})
        self.process = Process(self.name, [*network.prefix, *self.command(path)],
                               os.path.join(folder, self.name + ".log"), self.environment)
        try:
            wait_until(lambda: all(self._listens(network, (address, port)) for port in PORTS.values()), 10,
                       "%s's start" % self.name)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.process.stop()

    def _listens(self, network, place):
        self.process.require_running()
        try:
            network.connect(place).close()
            return True
        except OSError:
            return False


class Nginx(Proxy):
    name = "nginx"
    environment = {}
    configuration = """
daemon off;
master_process off;
pid "%(folder)s/pid";
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path "%(folder)s/body";
    proxy_temp_path "%(folder)s/proxy";
    fastcgi_temp_path "%(folder)s/fastcgi";
    uwsgi_temp_path "%(folder)s/uwsgi";
    scgi_temp_path "%(folder)s/scgi";
    server {
        listen %(address)s:80;
        listen %(address)s:443 ssl;
        ssl_certificate "%(folder)s/certificate.pem";
        ssl_certificate_key "%(folder)s/key.pem";
        location / {
            proxy_pass http://%(host)s;
            proxy_http_version 1.1;
            proxy_set_header Host localhost;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection upgrade;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header Forwarded "";
        }
    }
}
"""

    @staticmethod
    def missing():
        return None if os.access(server.PROGRAM, os.X_OK) else "nginx is missing; Tools/setup unpacks it"

    def command(self, path):
        return [server.PROGRAM, "-e", "stderr", "-p", self.folder, "-c", path]


class HAProxy(Proxy):
    name = "haproxy"
    environment = {"LD_LIBRARY_PATH": LIBRARIES}
    configuration = """
defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s

frontend web
    bind %(address)s:80
    bind %(address)s:443 ssl crt "%(folder)s/both.pem"
    http-request set-header Host localhost
    http-request set-header X-Forwarded-For %%[src]
    http-request del-header Forwarded
    default_backend screenrelay

backend screenrelay
    server host %(host)s
"""

    @staticmethod
    def missing():
        is_there = os.access(os.path.join(HAPROXY, "sbin", "haproxy"), os.X_OK)
        return None if is_there else "haproxy is missing; Tools/setup unpacks it"

    def command(self, path):
        return [os.path.join(HAPROXY, "sbin", "haproxy"), "-db", "-f", path]


ALL = {one.name: one for one in (Nginx, HAProxy)}


def make_certificate(address, folder):
    """A certificate for this address that nobody vouches for, its key, and both in one file."""
    certificate, key = (os.path.join(folder, name) for name in ("certificate.pem", "key.pem"))
    if not shutil.which("openssl"):
        raise Missing("openssl is missing; Tools/setup installs it")
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=" + address, "-addext", "subjectAltName=IP:" + address, "-keyout", key, "-out", certificate],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=30)
    if made.returncode != 0:
        raise Failure("openssl made no certificate: " + made.stdout.decode(errors="replace")[-300:])
    with open(os.path.join(folder, "both.pem"), "wb") as both:
        for path in (certificate, key):
            with open(path, "rb") as part:
                both.write(part.read())
