"""A desktop of its own: a virtual screen with a scene, a sound server if wanted, and a share of both."""

import os
import time

from bench_kit.display import Display
from bench_kit.processes import Failure, free_port, wait_until

from .processes import Talker

SIZE = (640, 480)
START = 20
#: The sink that is heard by the share, and the one that players play to.
DESKTOP, EARS = "desktop", "ears"
ADDRESSES = "listen=0\nudp-port=0\n"


class Block:
    """What runs for the commands of one block, until its end."""

    def __init__(self):
        #: Hosts that commands have started, each with the command's text.
        self.hosts = []
        #: The share that commands steer, the environment in which they find it, and its port.
        self.share, self.environment, self.port = None, None, None
        self.link_port = free_port()
        self.turn = None


class Stage:
    """One kind of desktop. The share's and the players' settings are in a home of their own."""

    def __init__(self, programs, folder, is_moving, audio):
        """`audio`: "no", "tone", or "silent", where the share offers sound and nothing plays."""
        self.programs, self.folder, self.is_moving, self.audio = programs, folder, is_moving, audio
        self.running = []
        self._share = None
        self.block = Block()
        try:
            self._start()
            #: How many of those that run are its own.
            self.own = len(self.running)
        except BaseException:
            self.close()
            raise

    def _start(self):
        self.display = Display(SIZE, self.folder)
        scene = self.start([os.path.join(self.programs, "screenrelay-scene"), "--display", self.display.name,
                            "--scene", "patches"] + ([] if self.is_moving else ["--still"]))
        scene.wait(lambda when, line: when if "ready" in line else None, time.monotonic() + START, "scene")
        self.sound = {"PULSE_SERVER": None, "PULSE_SINK": None}
        if self.audio != "no":
            self._start_sound()
        #: What the documented commands see: the programs, the display, settings, and no address that is in use.
        self.environment = self._own_home()

    def _own_home(self):
        return self.home("home", "rtsp=0\n[share]\n" + ("sound=desktop\n" if self.audio != "no" else ""))

    def _start_sound(self):
        address = os.path.join(self.folder, "pulse.sock")
        own = {"HOME": self.folder, "XDG_RUNTIME_DIR": self.folder, "PULSE_RUNTIME_PATH": self.folder + "/pulse",
               "PULSE_STATE_PATH": self.folder + "/pulse-state", "DBUS_SESSION_BUS_ADDRESS": None}
        modules = ["module-native-protocol-unix auth-anonymous=1 socket=" + address] + [
            "module-null-sink sink_name=%s rate=48000" % sink for sink in (DESKTOP, EARS)]
        server = self.start(
            ["pulseaudio", "--exit-idle-time=-1", "--daemonize=no", "-n", "--use-pid-file=no", "--realtime=no"]
            + [word for module in modules for word in ("-L", module)], own)
        self.sound = {"PULSE_SERVER": "unix:" + address, "PULSE_SINK": None}
        own.update(self.sound)

        def is_ready():
            if server.child.poll() is not None:
                raise Failure("pulseaudio ended: " + server.last_words())
            client = Talker(["pactl", "set-default-sink", DESKTOP], self.folder, own)
            try:
                return client.child.wait(10) == 0
            finally:
                client.stop()

        wait_until(is_ready, START, "an answer by PulseAudio")
        if self.audio == "tone":
            self.start(["ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "sine=440:sample_rate=48000",
                        "-ac", "2", "-f", "pulse", "-device", DESKTOP, "tone"], own)

    def home(self, name, settings):
        """A home with these settings, below [all]; gives the environment."""
        home = os.path.join(self.folder, name)
        os.makedirs(os.path.join(home, ".config", "screenrelay"), exist_ok=True)
        with open(os.path.join(home, ".config", "screenrelay", "config"), "w") as file:
            file.write("[all]\n" + ADDRESSES + settings)
        return {"HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": None, "XDG_CONFIG_HOME": None,
                "WAYLAND_DISPLAY": None, "DISPLAY": self.display.name, **self.sound,
                "PATH": self.programs + ":" + os.environ["PATH"]}

    def start(self, command, environment=None):
        """Starts what runs until the stage or the command is over."""
        one = Talker(command, self.folder, environment)
        self.running.append(one)
        return one

    def end_since(self, count):
        """Ends what was started after the first `count`, the last one first."""
        while len(self.running) > count:
            self.running.pop().stop()

    @property
    def share(self):
        """`screenrelay share` without further options, for what watches; started once."""
        if not self._share:
            # Not one of those that end with the command. Only a host at a known port has a token for /api.
            command = ["screenrelay", "share", "--listen", "127.0.0.1:%d" % free_port()]
            self._share = Screenrelay(Talker(command, self.folder, self.environment))
        return self._share

    def end_block(self):
        """Ends all that its commands have started."""
        self.end_since(self.own)
        self.block = Block()
        # They may have written other settings.
        self._own_home()

    def close(self):
        if self._share:
            self._share.talker.stop()
        self.end_since(0)
        if hasattr(self, "display"):
            self.display.close()


class Screenrelay:
    """A share or a host, and what it prints."""

    def __init__(self, talker, seconds=START):
        """It has these seconds until it prints its link."""
        self.talker, self.seconds = talker, seconds
        self.link = self._wait(lambda line: line if line.startswith("http") and "#" in line else None, "link")
        #: http://HOST:PORT
        self.place = self.link.split("/#")[0]
        self.room, self.token = self.link.split("#")[1].split(",")
        self.rtsp = self.after("Players of RTSP: ")

    def after(self, words):
        """What it prints behind these words."""
        return self._wait(lambda line: line.split(words)[1].split()[0] if words in line else None, words)

    def _wait(self, find, what):
        return self.talker.wait(lambda _, line: find(line), time.monotonic() + self.seconds, what)
