"""Runs a program with a screen cast of the desktop portal, as other applications get theirs; for Debian's own Python.

    cast MODE COMMAND...    `{fd}` in the command is the connection to PipeWire, `{node}` the stream's node

MODE says how the pictures show the pointer: 1 not at all, 2 drawn into them. Prints the program's process id, and
passes SIGINT on to it. Exits with its exit code.
"""

import signal
import subprocess
import sys

import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

PORTAL = "org.freedesktop.portal.Desktop"
CAST = "org.freedesktop.portal.ScreenCast"
MONITOR = 1


class Portal:
    """One session of the portal, which ends with this process."""

    def __init__(self):
        DBusGMainLoop(set_as_default=True)
        self.bus, self.loop, self.count = dbus.SessionBus(), GLib.MainLoop(), 0
        self.cast = dbus.Interface(self.bus.get_object(PORTAL, "/org/freedesktop/portal/desktop"), CAST)
        self.own = self.bus.get_unique_name()[1:].replace(".", "_")

    def request(self, call, *arguments, **options):
        """Makes a call that is answered by a signal, and gives the results."""
        self.count += 1
        token, answers = "bench%d" % self.count, []

        def responded(code, results):
            answers.append((code, results))
            self.loop.quit()

        self.bus.add_signal_receiver(
            responded, "Response", "org.freedesktop.portal.Request", PORTAL,
            "/org/freedesktop/portal/desktop/request/%s/%s" % (self.own, token))
        call(*arguments, dbus.Dictionary({"handle_token": token, **options}, signature="sv"))
        if not answers:
            self.loop.run()
        code, results = answers[0]
        if code:
            sys.exit("the portal answers %d" % code)
        return results

    def open(self, mode):
        """Gives a connection to PipeWire, and the node of the monitor's stream."""
        session = self.request(self.cast.CreateSession, session_handle_token="bench")["session_handle"]
        self.request(self.cast.SelectSources, session, types=dbus.UInt32(MONITOR), cursor_mode=dbus.UInt32(mode))
        streams = self.request(self.cast.Start, session, "")["streams"]
        return self.cast.OpenPipeWireRemote(session, {}).take(), int(streams[0][0])


def main(mode, *command):
    # It must outlive the portal's client: the session ends with it.
    descriptor, node = Portal().open(int(mode))
    command = [word.replace("{fd}", str(descriptor)).replace("{node}", str(node)) for word in command]
    child = subprocess.Popen(command, pass_fds=[descriptor])
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda number, _: child.send_signal(number))
    print(child.pid, flush=True)
    return child.wait()


sys.exit(main(*sys.argv[1:]))
