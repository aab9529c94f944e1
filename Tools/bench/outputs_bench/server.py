"""nginx with its RTMP module, which takes what is pushed to it and keeps what it is asked to keep."""

import os
import shutil

from bench_kit.bench import REPOSITORY
from bench_kit.processes import Process, free_port, read, wait_until

NGINX = os.path.join(REPOSITORY, ".build", "nginx", "usr")

PROGRAM = os.path.join(NGINX, "sbin", "nginx")

CONFIGURATION = """
load_module "%(nginx)s/lib/nginx/modules/ngx_rtmp_module.so";
daemon off;
master_process off;
pid "%(folder)s/pid";
error_log stderr info;
events {}
rtmp {
    access_log off;
    server {
        listen %(address)s:%(port)d;
        application live {
            live on;
        }
        application kept {
            live on;
            record all;
            record_path "%(folder)s";
        }
    }
}
"""


def missing():
    """What is missing for a measurement; None if nothing is."""
    if not os.access(PROGRAM, os.X_OK):
        return "nginx is missing; Tools/setup unpacks it"
    return None if shutil.which("ffmpeg") else "ffmpeg is missing; Tools/setup installs it"


class Server:
    """nginx at an address of this machine or, with `prefix`, of a network namespace."""

    def __init__(self, folder, address="127.0.0.1", port=None, prefix=()):
        self.folder = os.path.join(folder, "nginx")
        os.makedirs(self.folder)
        self.place = "%s:%d" % (address, port or free_port())
        configuration = os.path.join(self.folder, "nginx.conf")
        with open(configuration, "w") as file:
            file.write(CONFIGURATION % {"nginx": NGINX, "folder": self.folder, "address": address,
                                        "port": int(self.place.rsplit(":", 1)[1])})
        self.process = Process(
            "nginx", [*prefix, PROGRAM, "-e", "stderr", "-p", self.folder, "-c", configuration],
            os.path.join(folder, "nginx.log"))
        try:
            wait_until(self._has_started, 10, "nginx's start")
        except BaseException:
            self.close()
            raise

    def url(self, key, is_kept=False):
        return "rtmp://%s/%s/%s" % (self.place, "kept" if is_kept else "live", key)

    def recording(self, key):
        return os.path.join(self.folder, key + ".flv")

    def has_lost(self):
        """Whether one who has sent to it has gone: all of his recording is in its file then."""
        return " disconnect," in self._log()

    def close(self):
        self.process.stop()

    def _has_started(self):
        self.process.require_running()
        # It says so once its port is open; a connection to look would need its network namespace.
        return "using the" in self._log()

    def _log(self):
        return read(self.process.log_path)
