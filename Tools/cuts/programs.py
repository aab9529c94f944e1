"""The built programs: runs to the end, whose memory is measured, and hosts."""

import os
import signal
import subprocess
import threading
import time

MIB = 1 << 20
#: Seconds after which a run hangs.
TIMEOUT = 60


class Failure(Exception):
    """Why nothing could be measured."""


class Missing(Failure):
    """Something that is needed isn't there."""


class Programs:
    """The built programs, run in a folder of their own."""

    def __init__(self, folder, home):
        self.path = os.path.join(os.path.abspath(folder), "screenrelay")
        if not os.access(self.path, os.X_OK):
            raise Missing("there is no program %s" % self.path)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=home, HOME=home)
        for name in ["DISPLAY", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]:
            self.environment.pop(name, None)

    def run(self, words, log):
        """Runs to the end; gives the exit code (below zero: a signal), the peak memory in bytes, and what was said."""
        output = os.open(log, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            nothing = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
            process = os.posix_spawn(
                self.path, [self.path, *words], self.environment,
                file_actions=[nothing, (os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)])
            watch = threading.Timer(TIMEOUT, os.kill, (process, signal.SIGKILL))
            watch.start()
            try:
                # Ended, but not reaped: its number is still its own when the watch is called off.
                os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            finally:
                watch.cancel()
                watch.join()
            _, status, usage = os.wait4(process, 0)
            # Lines are folded to a width.
            said = " ".join(os.pread(output, MIB, 0).decode("utf-8", "replace").split())
        finally:
            os.close(output)
        return os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10, said


class Host:
    """A host that takes in what is replayed."""

    def __init__(self, programs, folder, name, words=()):
        socket = os.path.join(folder, name + ".sock")
        self.address = "unix:" + socket
        self.log = os.path.join(folder, name + ".log")
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [programs.path, "host", "--link", self.address, *words, "--listen", "127.0.0.1:0", "--udp-port", "0",
                 "--log", "warning"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=programs.environment)
        deadline = time.monotonic() + 20
        while not os.path.exists(socket):
            if self.child.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Failure("no host: %s" % self.words())
            time.sleep(0.01)

    def words(self):
        with open(self.log, errors="replace") as log:
            return " ".join(log.read().split())

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
        try:
            return self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.wait()

    def finish(self):
        code = self.stop()
        if code != 0:
            raise Failure("the host ended with %d: %s" % (code, self.words()))
