"""The programs of a Wayland desktop for tests: `wayland_desktop.py` says what it is made of."""

import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

from gi.repository import GLib

NAME = "org.freedesktop.impl.portal.desktop.test"
PORTAL = "org.freedesktop.portal.Desktop"
CAST = "org.freedesktop.impl.portal.ScreenCast"
KEYS = "org.freedesktop.impl.portal.GlobalShortcuts"
MUTTER = "org.gnome.Mutter.ScreenCast"
STORE = "org.freedesktop.impl.portal.PermissionStore"

# Without the services of the real session bus, of which some would mount file systems.
BUS = """<busconfig>
<type>session</type><listen>unix:path={folder}/bus</listen>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""
BACKEND = f"""[portal]
DBusName={NAME}
Interfaces={CAST};%s
UseIn=test
"""
# A program that runs on a desktop only counts as installed if its command exists.
APPLICATION = """[Desktop Entry]
Type=Application
Name=ScreenRelay
Exec=true
"""

# The names on the bus that show that a program is there.
NAMES = {"portal": PORTAL, "store": STORE, "screen": MUTTER}

LIBC = ctypes.CDLL(None)


def say(line):
    print(line, flush=True)


class Desktop:
    """The programs."""

    def __init__(self, folder, size, parts):
        self.folder, self.size, self.parts, self.programs = folder, size, parts, {}
        self.keyboard = None
        for name in "run", "home", "portals":
            (folder / name).mkdir(mode=0o700, exist_ok=True)
        (folder / "bus.conf").write_text(BUS.format(folder=folder))
        if "backend" in parts:
            (folder / "portals" / "test.portal").write_text(BACKEND % (f"{KEYS};" if "keys" in parts else ""))
            (folder / "portals" / "test-portals.conf").write_text("[preferred]\ndefault=test\n")
        if "keys" in parts:
            applications = folder / "home" / ".local" / "share" / "applications"
            applications.mkdir(parents=True)
            (applications / "screenrelay.ScreenRelay.desktop").write_text(APPLICATION)
        address = f"unix:path={folder}/bus"
        kept = ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": f"{folder}/home", "XDG_RUNTIME_DIR": f"{folder}/run", "DBUS_SESSION_BUS_ADDRESS": address,
            "XDG_CURRENT_DESKTOP": "test", "XDG_SESSION_TYPE": "wayland", "XDG_DESKTOP_PORTAL_DIR": f"{folder}/portals",
            "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1", "GSETTINGS_BACKEND": "memory",
        }
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = address

    def start(self, name, *command, **streams):
        with open(self.folder / f"{name}.log", "w") as log:
            self.programs[name] = subprocess.Popen(
                command, env=self.environment, stderr=log, **{"stdin": subprocess.DEVNULL, "stdout": log} | streams,
                preexec_fn=lambda: LIBC.prctl(1, signal.SIGTERM))  # PR_SET_PDEATHSIG

    def wait_for(self, path, program):
        """Waits until the program listens on this socket, which it makes some time before."""
        def listens():
            with socket.socket(socket.AF_UNIX) as peer:
                return peer.connect_ex(str(path)) == 0

        while not listens():
            if self.programs[program].poll() is not None:
                sys.exit(f"{program} has ended: {(self.folder / f'{program}.log').read_text()}")
            time.sleep(0.02)

    def start_bus(self):
        self.start("bus", "dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork")
        self.wait_for(self.folder / "bus", "bus")

    def start_others(self):
        if "screen" in self.parts:
            for program in "pipewire", "wireplumber", "screen":
                self.start_again(program)
        if "portal" in self.parts:
            # The store keeps what restores a session.
            for program in "store", "portal":
                self.start_again(program)

    def start_again(self, program):
        match program:
            case "pipewire":
                self.start(program, "pipewire")
                self.wait_for(self.folder / "run" / "pipewire-0", program)
            case "wireplumber":
                self.start(program, "wireplumber")
            case "screen":
                count = 0 if "bare" in self.parts else 2 if "second" in self.parts else 1
                monitors = ["--virtual-monitor", self.size] * count
                self.start(
                    program, "mutter", "--headless", "--wayland", "--no-x11", *monitors, "--wayland-display",
                    "wayland-test")
                self.wait_for(self.folder / "run" / "wayland-test", program)
            case "store":
                self.start(program, "/usr/libexec/xdg-permission-store")
            case "portal":
                self.start(program, "/usr/libexec/xdg-desktop-portal")

    def obey_fault(self, line):
        """Returns the node of faulty_cast.py."""
        if "cast" not in self.programs:
            program = pathlib.Path(__file__).with_name("faulty_cast.py")
            self.start(
                "cast", sys.executable, str(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                bufsize=1)
            self.node = int(self.programs["cast"].stdout.readline().split()[1])
        cast = self.programs["cast"]
        cast.stdin.write(f"{line}\n")
        cast.stdout.readline()
        return self.node

    def when_there(self, programs, then):
        names = [NAMES[program] for program in programs if program in NAMES]

        def check():
            if not all(self.bus.name_has_owner(name) for name in names):
                return True
            then()
            return False

        GLib.timeout_add(20, check)

    def kill(self, program):
        self.programs[program].kill()
        self.programs[program].wait()
        # What waits for the next one must not find these.
        sockets = {"pipewire": ["pipewire-0"], "screen": ["wayland-test", "wayland-test.lock"]}
        for name in sockets.get(program, []):
            (self.folder / "run" / name).unlink(missing_ok=True)

    def end(self):
        for program in reversed(self.programs.values()):
            program.terminate()
        for program in self.programs.values():
            try:
                program.wait(2)
            except subprocess.TimeoutExpired:
                program.kill()
