"""Firefox, controlled through WebDriver BiDi: JSON over a WebSocket, with the face of bench_kit.devtools.

https://w3c.github.io/webdriver-bidi/
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from bench_kit.processes import Failure, Missing

from .websocket import WebSocket

PORT = 9222
#: The page's clock as fine as it is. What a controlled browser shouldn't do meanwhile, such as looking for updates, it
#: leaves out by itself. How pictures arrive and are played is as Debian's package has it.
PREFERENCES = {"privacy.reduceTimerPrecision": False}


def firefox():
    """The program; FIREFOX in the environment names another one."""
    for name in [os.environ["FIREFOX"]] if os.environ.get("FIREFOX") else ["firefox-esr", "firefox"]:
        path = shutil.which(name)
        if path:
            return path
    raise Missing("firefox-esr is missing; Tools/setup installs it")


class Browser:
    """One browser without a window, with a profile of its own, in the network namespace at the end of `path`."""

    def __init__(self, path, log_path):
        self.profile = tempfile.mkdtemp(prefix="rb-firefox-")
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            for name, value in PREFERENCES.items():
                file.write("user_pref(%s, %s);\n" % (json.dumps(name), json.dumps(value)))
        self.log_path, self.log = log_path, open(log_path, "wb")
        self._socket, self._last = None, 0
        # Else it looks for settings in the home of whoever runs this.
        own = {"HOME": self.profile, "MOZ_CRASHREPORTER_DISABLE": "1", "MOZ_HEADLESS_WIDTH": "1280",
               "MOZ_HEADLESS_HEIGHT": "800"}
        self.child = subprocess.Popen(
            [*path.prefix, firefox(), "--headless", "--no-remote", "--profile", self.profile,
             "--remote-debugging-port", str(PORT), "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True,
            env=dict(os.environ, **own))
        try:
            self._socket = self._connect(path, 60)
            session = self.call("session.new", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True}}})
            self.version = session["capabilities"].get("browserVersion", "?")
        except BaseException:
            self.close()
            raise

    def new_page(self):
        """The page that the browser opened when it started."""
        return Page(self, self.call("browsingContext.getTree")["contexts"][0]["context"])

    def call(self, method, parameters=None, seconds=30):
        """Carries out one command, and gives its result."""
        self._last += 1
        deadline = time.monotonic() + seconds
        try:
            self._socket.send(json.dumps({"id": self._last, "method": method, "params": parameters or {}}))
            while True:
                answer = json.loads(self._socket.receive(deadline))
                if answer.get("id") == self._last:
                    break
        except TimeoutError:
            raise Failure("Firefox did not answer to %s within %g s" % (method, seconds))
        except OSError:
            raise Failure("Firefox is gone: " + self._last_words())
        if answer["type"] == "error":
            raise Failure("%s: %s" % (method, answer.get("message")))
        return answer["result"]

    def close(self):
        if self._socket:
            if self.child.poll() is None:
                try:
                    self.call("browser.close", seconds=5)
                    self.child.wait(5)
                except (Failure, subprocess.TimeoutExpired):
                    pass
            self._socket.close()
        try:
            # The session is the browser's own, so this is all that it has started.
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _connect(self, path, seconds):
        deadline = time.monotonic() + seconds
        while True:
            if self.child.poll() is not None:
                raise Failure("Firefox ended by itself: " + self._last_words())
            try:
                return WebSocket(path.connect(("127.0.0.1", PORT)), "127.0.0.1:%d" % PORT, "/session")
            except OSError as error:
                # It doesn't listen yet.
                if time.monotonic() > deadline:
                    raise Failure("Firefox can't be reached: %s: %s" % (error, self._last_words()))
                time.sleep(0.1)

    def _last_words(self):
        with open(self.log_path, "rb") as log:
            return log.read()[-400:].decode(errors="replace").strip()


class Page:
    def __init__(self, browser, context):
        self.browser, self.context = browser, context

    def run_before_load(self, script):
        self.browser.call("script.addPreloadScript", {"functionDeclaration": "() => {\n%s\n}" % script})

    def navigate(self, url):
        self.browser.call("browsingContext.navigate", {
            "context": self.context, "url": url, "wait": "interactive"}, seconds=60)

    def evaluate(self, script, seconds=30):
        """The value of an expression, which may be a promise."""
        result = self.browser.call("script.evaluate", {
            "expression": "Promise.resolve((%s)).then((value) => JSON.stringify(value ?? null))" % script,
            "target": {"context": self.context}, "awaitPromise": True}, seconds)
        if result["type"] == "exception":
            raise Failure("the page: %s" % result["exceptionDetails"].get("text"))
        return json.loads(result["result"]["value"])

    def epoch(self):
        """The page's performance.now() of 0 as seconds of CLOCK_MONOTONIC, right to half the fastest of ten answers."""
        best = None
        for _ in range(10):
            before = time.monotonic()
            now = self.evaluate("performance.now()") / 1000
            after = time.monotonic()
            if best is None or after - before < best[0]:
                best = after - before, (before + after) / 2 - now
        if best[0] > 0.02:
            raise Failure("Firefox took %.0f ms to tell its time" % (best[0] * 1000))
        return best[1]
