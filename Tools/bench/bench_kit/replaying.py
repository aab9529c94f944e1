"""The host, alone on its processor, with a replay that plays a recording over and over."""

import http.client
import os

from .processes import Failure, Process, memory, own_settings, read, tasks, times_of, wait_until


def pinned(core, command):
    return ["taskset", "--cpu-list", str(core), *command]


class Served:
    """The figures of a host; subclasses have its `process` and its `link`."""

    def threads(self):
        return threads(self.process.pid)

    def media_threads(self):
        """Nanoseconds of CPU time of each media thread so far, by its number."""
        return times_of(self.process.pid, "media")

    def metrics(self):
        return metrics(self.link)

    def memory(self):
        return memory(self.process.pid)


class Host(Served):
    """`core` is its processor, `words` are where it listens, and where it pushes to, and `more` is added to its
    environment."""

    def __init__(self, program, recording, options, folder, core, words=("--listen", "127.0.0.1:0"), more={}):
        self.folder, self.log, self.started = folder, os.path.join(folder, "host.log"), []
        self.by_rtsp = options.by == "rtsp"
        link = "unix:" + os.path.join(folder, "s")
        try:
            # Its standard output is a file: it has a line for each viewer, and nothing would empty a pipe.
            self.process = Process("host", pinned(core, [
                program("screenrelay"), "host", "--no-config", "--link", link, "--udp-port", "0", *words,
                *["--rtsp", "127.0.0.1:0"] * self.by_rtsp]), self.log, {**own_settings(folder), **more})
            self.started.append(self.process)
            wait_until(self._link, 20, "the host's link")
            self.link = self._link()
            self.replay = Process("replay", pinned(options.core, [
                program("screenrelay"), "replay", "--no-config", "--link", link, "--loop", recording]),
                os.path.join(folder, "replay.log"), own_settings(folder))
            self.started.append(self.replay)
        except BaseException:
            self.close()
            raise

    def _link(self):
        """The invite link, or the players' URL, that the host has printed; None before."""
        self.process.require_running()
        text = read(self.log)
        words = text[:text.rfind("\n") + 1].split()
        if self.by_rtsp:
            return next((word for word in words if word.startswith("rtsp://")), None)
        return next((word for word in words if word.startswith("http://") and "#" in word), None)

    def require_running(self):
        for process in self.started:
            process.require_running()

    def close(self):
        for process in reversed(self.started):
            process.stop()


def metrics(link):
    """The values of /metrics of the host with this link, by their names, with labels and without the prefix."""
    address = link.split("//", 1)[1].split("/", 1)[0]
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        status, text = answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        raise Failure("the host's /metrics: %s" % error)
    finally:
        connection.close()
    if status != 200:
        raise Failure("the host's /metrics: %d" % status)
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return {name.removeprefix("screenrelay_"): float(value) for name, value in lines}


def threads(pid):
    """Nanoseconds of a process's CPU time so far, by the threads' names, by the scheduler's own account."""
    times = {}
    for name, time in tasks(pid).values():
        times[name] = times.get(name, 0) + time
    return times
