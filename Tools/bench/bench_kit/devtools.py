"""Chromium, controlled through the DevTools protocol over two pipes."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from .processes import Failure, Missing

FLAGS = [
    "--remote-debugging-pipe", "--disable-gpu", "--mute-audio", "--no-first-run",
    "--autoplay-policy=no-user-gesture-required", "--no-default-browser-check", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-breakpad",
    "--disable-dev-shm-usage", "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding", "--password-store=basic", "--window-size=1280,800",
]


def chromium():
    """The program; CHROMIUM in the environment names another one."""
    named = os.environ.get("CHROMIUM")
    for name in ([named] if named else []) + ["chromium", "chromium-browser", "google-chrome"]:
        path = shutil.which(name)
        if path:
            return path
    raise Missing("chromium is missing; Tools/setup installs it")


class Browser:
    """One browser with a profile of its own, started by `prefix` (in another network namespace).

    It has no window, unless `display` names an X display.
    """

    def __init__(self, prefix, log_path, display=None, more_flags=()):
        self.profile = tempfile.mkdtemp(prefix="nwb-browser-")
        flags = FLAGS + ["--user-data-dir=" + self.profile, *more_flags]
        flags += ["--ozone-platform=x11", "--display=" + display] if display else ["--headless=new"]
        if os.geteuid() == 0:
            # Chromium's sandbox refuses to work for root.
            flags.append("--no-sandbox")
        commands, answers = os.pipe(), os.pipe()
        self.log = open(log_path, "wb")
        self.log_path = log_path
        # Chromium reads commands from its descriptor 3, and writes answers to 4.
        script = 'exec "$@" 3<&%d 4>&%d' % (commands[0], answers[1])
        try:
            self.child = subprocess.Popen(
                ["bash", "-c", script, "bash", *prefix, chromium(), *flags, "about:blank"], stdin=subprocess.DEVNULL,
                stdout=self.log, stderr=self.log, pass_fds=(commands[0], answers[1]), start_new_session=True,
                env=dict(os.environ, **({"DISPLAY": display} if display else {})))
        finally:
            os.close(commands[0])
            os.close(answers[1])
        self._out, self._in = commands[1], answers[0]
        self._last, self._received = 0, b""
        self.call("Browser.getVersion", seconds=60)

    def new_page(self, context=None):
        """An empty page; `context` is one of `new_context`."""
        where = {"browserContextId": context} if context else {}
        target = self.call("Target.createTarget", {"url": "about:blank", **where})["targetId"]
        return self._attached(target)

    def first_page(self):
        """The page in the window that the browser opened when it started."""
        for one in self.call("Target.getTargets")["targetInfos"]:
            if one["type"] == "page":
                return self._attached(one["targetId"])
        raise Failure("Chromium has no page")

    def _attached(self, target):
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        return Page(self, target, session)

    def new_context(self):
        """A profile within the browser, with an empty cache and no connections."""
        return self.call("Target.createBrowserContext")["browserContextId"]

    def call(self, method, parameters=None, session=None, seconds=30):
        """Carries out one command, and gives its result."""
        self.post(method, parameters, session)
        deadline = time.monotonic() + seconds
        while True:
            answer = self._receive(deadline, method)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise Failure("%s: %s" % (method, answer["error"].get("message")))
                return answer["result"]

    def post(self, method, parameters=None, session=None):
        """Sends one command, and doesn't wait for its answer: see `drop_answers`."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        try:
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self._out, data):]
        except OSError:
            raise Failure("Chromium is gone: " + self.last_words())

    def drop_answers(self):
        """Drops what has arrived. Call it after several `post`, so that Chromium never waits until it is read."""
        while select.select([self._in], [], [], 0)[0]:
            data = os.read(self._in, 1 << 20)
            if not data:
                raise Failure("Chromium is gone: " + self.last_words())
            self._received = (self._received + data).rpartition(b"\0")[2]

    def last_words(self):
        with open(self.log_path, "rb") as log:
            return log.read()[-400:].decode(errors="replace").strip()

    def close(self):
        if self.child.poll() is None:
            try:
                self.call("Browser.close", seconds=3)
                self.child.wait(5)
            except (Failure, subprocess.TimeoutExpired):
                pass
        try:
            # The session is the browser's own, so this is all that it has started.
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        for descriptor in (self._in, self._out):
            os.close(descriptor)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _receive(self, deadline, what):
        parts = [self._received]
        while b"\0" not in parts[-1]:
            ready, _, _ = select.select([self._in], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self._in, 1 << 20) if ready else b""
            if not data:
                self._received = b"".join(parts)
                raise Failure("Chromium did not answer to %s: %s" % (what, self.last_words()))
            parts.append(data)
        message, self._received = b"".join(parts).split(b"\0", 1)
        return json.loads(message)


class Page:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        for domain in ("Page", "Runtime", "Performance"):
            self.call(domain + ".enable")

    def call(self, method, parameters=None, seconds=30):
        return self.browser.call(method, parameters, self.session, seconds)

    def post(self, method, parameters=None):
        """Like `call`, but doesn't wait for the answer: see `Browser.drop_answers`."""
        self.browser.post(method, parameters, self.session)

    def run_before_load(self, script):
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def navigate(self, url):
        failed = self.call("Page.navigate", {"url": url}).get("errorText")
        if failed:
            raise Failure("%s could not be opened: %s" % (url, failed))

    def evaluate(self, script, seconds=30):
        """The value of an expression, which may be a promise."""
        result = self.call("Runtime.evaluate", {
            "expression": script, "returnByValue": True, "awaitPromise": True}, seconds)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure("the page: %s" % details.get("exception", {}).get("description", details.get("text")))
        return result["result"].get("value")

    def epoch(self):
        """The page's performance.now() of 0 as seconds of CLOCK_MONOTONIC, which Chromium's own clock is."""
        metrics = {one["name"]: one["value"] for one in self.call("Performance.getMetrics")["metrics"]}
        epoch = metrics["NavigationStart"]
        before = time.monotonic()
        now = epoch + self.evaluate("performance.now()") / 1000
        after = time.monotonic()
        if not before - 0.005 <= now <= after + 0.005:
            raise Failure("the page's clock is off by %.0f ms" % ((now - (before + after) / 2) * 1000))
        return epoch

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})
