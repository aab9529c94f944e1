"""Processes of the measurement: started, watched through /proc, and always ended by their id."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import time


class Failure(Exception):
    """Why one run failed; it is tried once more."""


#: What one measurement may die of without ending all: our own words, and tools that fail or hang.
TROUBLE = (Failure, subprocess.SubprocessError)


class Missing(Exception):
    """Something that is needed isn't there; nothing can be measured without it."""


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def wait_until(condition, seconds, what):
    """Polls until `condition()` holds; a Failure that names `what` after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failure("%s did not happen within %g s" % (what, seconds))
        time.sleep(0.01)


def require_programs(packages, installer="Tools/setup --bench"):
    """Ends with a Missing that names the Debian package of a program that isn't there; `packages` has it by program."""
    for program, package in packages.items():
        if not shutil.which(program):
            raise Missing("%s (Debian: %s) is missing; %s installs it" % (program, package, installer))


def own_settings(folder):
    """The environment of a program that touches neither the user's settings nor other shares."""
    return {name: folder for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME")}


def sleep_until(when):
    """Until this time of `time.monotonic()`."""
    time.sleep(max(0.0, when - time.monotonic()))


def free_port(is_datagram=False):
    """A port of 127.0.0.1 that nothing has bound, of TCP or UDP."""
    with socket.socket(type=socket.SOCK_DGRAM if is_datagram else socket.SOCK_STREAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


class Process:
    """A child process with its messages in a file."""

    def __init__(self, name, command, log_path, environment=None, stdin=None, stdout=None, pass_fds=()):
        self.name = name
        self.log_path = log_path
        self.unread = b""
        self.log = open(log_path, "wb")
        try:
            self.child = subprocess.Popen(
                command, stdin=stdin or subprocess.DEVNULL, stdout=stdout or self.log, stderr=self.log,
                env=dict(os.environ, **(environment or {})), pass_fds=pass_fds, close_fds=True)
        except OSError as error:
            self.log.close()
            raise Missing("%s can't be started: %s" % (command[0], error))

    @property
    def pid(self):
        return self.child.pid

    def is_running(self):
        return self.child.poll() is None

    def require_running(self):
        if not self.is_running():
            raise Failure("%s ended by itself (%s): %s" % (self.name, self.child.returncode, self.last_words()))

    def read_line(self, seconds, what):
        """The next line of its standard output, which is a pipe; a Failure that names `what` after so many seconds."""
        deadline = time.monotonic() + seconds
        output = self.child.stdout
        while b"\n" not in self.unread:
            ready, _, _ = select.select([output], [], [], max(0, deadline - time.monotonic()))
            data = os.read(output.fileno(), 65536) if ready else b""
            if not data:
                self.require_running()
                raise Failure("%s did not say '%s' within %g s" % (self.name, what, seconds))
            self.unread += data
        line, self.unread = self.unread.split(b"\n", 1)
        return line.decode()

    def last_words(self):
        with open(self.log_path, "rb") as log:
            return log.read()[-400:].decode(errors="replace").strip()

    def stop(self, how=signal.SIGTERM, seconds=5):
        """Ends it, by force if it must be."""
        if self.is_running():
            self.child.send_signal(how)
            try:
                self.child.wait(seconds)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait(seconds)
        for stream in (self.child.stdin, self.child.stdout):
            if stream:
                stream.close()
        self.log.close()


def printed_link(share):
    """The first link that a `screenrelay share`, or what stands in for it, prints; its standard output is a pipe."""
    output, data, deadline = share.child.stdout, b"", time.monotonic() + 20
    while time.monotonic() < deadline:
        ready, _, _ = select.select([output], [], [], max(0, deadline - time.monotonic()))
        more = os.read(output.fileno(), 4096) if ready else b""
        if not more:
            break
        data += more
        for line in data.decode(errors="replace").splitlines(keepends=True):
            if line.endswith("\n"):
                for word in line.split():
                    if word.startswith("http") and "#" in word:
                        return word
    share.require_running()
    raise Failure("%s printed no link" % share.name)


def control_answer(pid, folder, command, seconds):
    """A host's answer on its control socket (Protocol/control.md), as JSON; `folder` is its XDG_RUNTIME_DIR."""
    answer = _answer(pid, folder, json.dumps({"command": command}), seconds)
    if answer.startswith("error "):
        # A host of an earlier commit, with which the gate compares: it reads words, not JSON.
        words = {"status": "status json"}.get(command, command.replace("-", " "))
        answer = _answer(pid, folder, words, seconds).removeprefix("ok ")
    try:
        document = json.loads(answer)
    except ValueError:
        document = {"error": answer[:200]}
    if "error" in document:
        raise Failure("the host's control socket: %s" % document["error"])
    return document


def _answer(pid, folder, line, seconds):
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(seconds)
            connection.connect(os.path.join(folder, "screenrelay", "control-%d.sock" % pid))
            connection.sendall(line.encode() + b"\n")
            answer = b""
            while more := connection.recv(65536):
                answer += more
        return answer.decode(errors="replace")
    except OSError as error:
        raise Failure("the host's control socket: %s" % error)


def thread_times(pid):
    """Nanoseconds that each thread of a process has run, by the scheduler's own account."""
    times = {}
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            try:
                with open("/proc/%d/task/%s/schedstat" % (pid, task)) as file:
                    times[task] = int(file.read().split()[0])
            except OSError:
                continue  # the thread has just ended
    except OSError:
        raise Failure("process %d is gone" % pid)
    return times


def tasks(pid):
    """The name of each thread of a process, and its CPU time so far in nanoseconds, by the threads' numbers."""
    found = {}
    for number, used in thread_times(pid).items():
        try:
            found[number] = read("/proc/%d/task/%s/comm" % (pid, number)).strip(), used
        except OSError:
            continue  # the thread has just ended
    return found


def times_of(pid, name):
    """Nanoseconds that each thread with this name has run."""
    return {number: used for number, (found, used) in tasks(pid).items() if found == name}


def time_between(before, after):
    """Nanoseconds between two answers of `thread_times`; a new thread counts from 0."""
    return sum(time - before.get(task, 0) for task, time in after.items())


def memory(pid):
    """What a process has resident now (VmRSS), in KiB."""
    return _status(pid, "VmRSS:")


def peak_memory(pid):
    """The most memory that a process had resident so far (VmHWM), in KiB."""
    return _status(pid, "VmHWM:")


def shared_memory(pid):
    """What a process has resident of memory that it shares with others (RssShmem), in KiB."""
    return _status(pid, "RssShmem:")


def _status(pid, name):
    try:
        with open("/proc/%d/status" % pid) as file:
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1])
    except OSError:
        pass
    raise Failure("process %d is gone" % pid)
