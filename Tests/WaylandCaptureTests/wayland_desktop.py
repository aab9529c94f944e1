"""A Wayland desktop for tests and benchmarks, without a GPU, a display or a person: a session bus, PipeWire, WirePlumber, mutter with
a virtual monitor, the real desktop portal, and, in this process, a backend of the portal that shares the monitor. If only windows are
asked for, it shares the one with the keyboard.

usage: wayland_desktop.py FOLDER WIDTHxHEIGHT PART...

FOLDER is where everything is kept. The parts are `portal`, `backend`, `keys`, which the backend then has (wayland_keys.py), `screen`,
`second`, a second monitor of the screen, `bare`, a screen without a monitor, and `new`, the new monitors that the backend then has made for
applications; there is always a bus, whose socket is FOLDER/bus. Ends at the end of its input, and all programs with it.

Prints `ready` when all parts are there, and what happens:

    select types=1 cursor=4 persist=2 restores=0   an application asks; restores=1: with what Start gave out before
    choice 2                                       before `select`: what it restores is the second answer without that
    start                                          it wants to be answered
    closed                                         the application, or the portal for it, has closed a session
    bind pause trigger=CTRL+ALT+p application=ID   it wants a key; the portal has this identifier for it

Reads commands, and prints `done` and the command:

    answer N     Start is answered with N from now on: 0 granted, 1 cancelled, 2 ended otherwise
    next N       the next Start is answered with N, and only that one
    hold         Start isn't answered
    release      what was held is answered
    forget       nothing is given out from now on that restores a session
    close        the desktop closes all sessions
    keys N       a key is refused with N from now on (as for `answer`); 0: it is bound; `none`: granted, and not bound
    activate     all bound keys are pressed
    unbind       the desktop closes the sessions with keys
    monitor N S  the monitor is rotated from now on, by N of enum wl_output.transform, and scaled by S; it is the only one
    plug         both monitors are there, the first one on the left; that is the one that is shared
    unplug       the first monitor isn't there any more, and the second one is where it was
    monitors N   waits until the screen has so many monitors
    press N...   the keys with these evdev codes are pressed together, and released
    end NAME     kills a program: bus, pipewire, wireplumber, screen, store, portal or cast (of faulty_cast.py)
    fault LINE   shares the node of faulty_cast.py from now on instead of the monitor, and has it obey LINE
    start NAME   starts a program again that was killed, and waits until it is there
"""

import os
import pathlib
import signal
import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

from wayland_keys import Keyboard, Keys
from wayland_monitors import configure_monitors, when_monitors
from wayland_programs import CAST, KEYS, MUTTER, NAME, Desktop, say

SESSION = "org.freedesktop.impl.portal.Session"


class Session(dbus.service.Object):
    """What the portal closes, or what we close."""

    def __init__(self, bus, path, backend):
        super().__init__(bus, path)
        self.path, self.backend, self.options, self.cast = path, backend, {}, None

    @dbus.service.method(SESSION)
    def Close(self):
        say("closed")
        self.end()

    @dbus.service.signal(SESSION)
    def Closed(self):
        pass

    def close(self):
        """The desktop closes it."""
        if self.backend.sessions.get(self.path) is self:
            self.Closed()
            self.end()

    def end(self):
        self.backend.sessions.pop(self.path, None)
        self.backend.applications.pop(self.path, None)
        self.backend.bound.pop(self.path, None)
        if self.cast is not None:
            # The answer isn't needed, and mutter may be gone.
            self.cast.Stop(reply_handler=lambda: None, error_handler=lambda error: None)
        self.remove_from_connection()

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return dbus.UInt32(1)


class Backend(Keys):
    """The portal's backend, and the person who is asked."""

    def __init__(self, bus, makes_monitors):
        super().__init__(bus)
        self.properties = {
            "AvailableSourceTypes": dbus.UInt32(7 if makes_monitors else 3), "AvailableCursorModes": dbus.UInt32(7),
            "version": dbus.UInt32(5),
        }
        self.bus, self.sessions, self.answer, self.is_held, self.held = bus, {}, 0, False, []
        self.next_answer = 0
        self.restores, self.node, self.choices = True, None, 0

    def add_session(self, path):
        self.sessions[path] = Session(self.bus, path, self)

    @dbus.service.method(CAST, in_signature="oosa{sv}", out_signature="ua{sv}")
    def CreateSession(self, handle, session, application, options):
        self.add_session(session)
        return dbus.UInt32(0), dbus.Dictionary({"session_id": "test"}, signature="sv")

    @dbus.service.method(CAST, in_signature="oosa{sv}", out_signature="ua{sv}")
    def SelectSources(self, handle, session, application, options):
        types, cursor, persist = (int(options.get(key, 0)) for key in ("types", "cursor_mode", "persist_mode"))
        if "restore_data" in options:
            say(f"choice {options['restore_data'][2]}")
        say(f"select types={types} cursor={cursor} persist={persist} restores={int('restore_data' in options)}")
        self.sessions[session].options = options
        return dbus.UInt32(0), dbus.Dictionary({}, signature="sv")

    @dbus.service.method(CAST, in_signature="oossa{sv}", out_signature="ua{sv}", async_callbacks=("done", "failed"))
    def Start(self, handle, session, application, window, options, done, failed):
        say("start")

        def reply():
            answer, self.next_answer = self.next_answer or self.answer, 0
            if answer:
                done(dbus.UInt32(answer), dbus.Dictionary({}, signature="sv"))
            elif session in self.sessions:
                self.record(self.sessions[session], done, failed)

        self.held.append(reply)
        if not self.is_held:
            self.release()

    def choice(self, options):
        """The number of what is shared, counted from 1: the one that is restored, or the next one."""
        if "restore_data" in options:
            return options["restore_data"][2]
        self.choices += 1
        return str(self.choices)

    def record(self, session, done, failed):
        options = session.options
        kind = next(bit for bit in (1, 2, 4) if int(options.get("types", 1)) & bit)
        properties = {"source_type": dbus.UInt32(kind), "mapping_id": "test"}
        # A new monitor has none before the reader has chosen a format. That of a window is its monitor's, as in GNOME.
        if kind != 4:
            properties["size"] = dbus.Struct(self.size, signature="ii")
        if kind == 1:
            properties["position"] = dbus.Struct((dbus.Int32(0), dbus.Int32(0)), signature="ii")

        def added(node):
            one = dbus.Struct((dbus.UInt32(node), dbus.Dictionary(properties, signature="sv")), signature="ua{sv}")
            streams = dbus.Array([one], signature="(ua{sv})")
            results = {"streams": streams}
            if self.restores and options.get("persist_mode"):
                choice = dbus.String(self.choice(options), variant_level=1)
                data = dbus.Struct(("test", dbus.UInt32(1), choice), signature="suv")
                results |= {"persist_mode": options["persist_mode"], "restore_data": data}
            done(dbus.UInt32(0), dbus.Dictionary(results, signature="sv"))

        if self.node is not None:
            added(self.node)
            return
        mutter = dbus.Interface(self.bus.get_object(MUTTER, "/org/gnome/Mutter/ScreenCast"), MUTTER)
        path = mutter.CreateSession({})
        session.cast = dbus.Interface(self.bus.get_object(MUTTER, path), f"{MUTTER}.Session")
        # As GNOME's backend does: mutter closes it if its PipeWire or the monitor is gone.
        self.bus.add_signal_receiver(session.close, "Closed", f"{MUTTER}.Session", path=path)
        # Mutter counts from 0: hidden, embedded, metadata.
        mode = {"cursor-mode": dbus.UInt32({1: 0, 2: 1, 4: 2}[int(options.get("cursor_mode", 1))])}
        match kind:
            case 1:
                stream = session.cast.RecordMonitor("", mode)
            case 2:
                # Only GNOME Shell tells the windows' identifiers. Without one, it is the window with the keyboard.
                stream = session.cast.RecordWindow(mode)
            case _:
                stream = session.cast.RecordVirtual(mode)
        self.bus.add_signal_receiver(added, "PipeWireStreamAdded", f"{MUTTER}.Stream", path=stream)
        session.cast.Start()

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.properties[name]

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        properties = {"version": dbus.UInt32(1)} if interface == KEYS else self.properties
        return dbus.Dictionary(properties, signature="sv")

    def close_sessions(self):
        for session in list(self.sessions.values()):
            session.close()

    def release(self):
        self.is_held = False
        while self.held:
            self.held.pop(0)()


def obey(line, desktop, backend):
    match line.split():
        case ["answer", code]:
            backend.answer = int(code)
        case ["next", code]:
            backend.next_answer = int(code)
        case ["hold"]:
            backend.is_held = True
        case ["release"]:
            backend.release()
        case ["forget"]:
            backend.restores = False
        case ["close"]:
            backend.close_sessions()
        case ["keys", answer]:
            backend.key_answer = answer
        case ["activate"]:
            backend.activate()
        case ["unbind"]:
            for path in list(backend.applications):
                backend.sessions[path].close()
        case ["monitor", transform, scale]:
            configure_monitors(desktop.bus, [0], int(transform), float(scale))
        case ["plug"]:
            configure_monitors(desktop.bus, [0, 1])
        case ["unplug"]:
            configure_monitors(desktop.bus, [1])
        case ["monitors", count]:
            when_monitors(desktop.bus, int(count), lambda: say(f"done {line}"))
            return
        case ["press", *codes]:
            desktop.keyboard = desktop.keyboard or Keyboard(desktop.bus)
            desktop.keyboard.press([int(code) for code in codes])
        case ["fault", *words]:
            backend.node = desktop.obey_fault(" ".join(words))
        case ["end", program]:
            desktop.kill(program)
        case ["start", program]:
            desktop.start_again(program)
            desktop.when_there([program], lambda: say(f"done {line}"))
            return
        case _:
            raise ValueError(line)
    say(f"done {line}")


def main(folder, size, *parts):
    desktop = Desktop(pathlib.Path(folder), size, parts)
    loop = GLib.MainLoop()
    # The caller closes our input before it sends this signal, and the programs are to be ended in order.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        desktop.start_bus()
        DBusGMainLoop(set_as_default=True)
        bus = dbus.SessionBus()
        bus.set_exit_on_disconnect(False)
        backend = None
        if "backend" in parts:
            backend = Backend(bus, "new" in parts)
            backend.size = tuple(dbus.Int32(side) for side in size.split("x"))
            # The name's owner has to live as long as the backend.
            backend.name = dbus.service.BusName(NAME, bus)
        desktop.bus = bus
        pending = b""

        def read(source, condition):
            nonlocal pending
            received = os.read(0, 4096)
            if not received:
                loop.quit()
                return False
            *lines, pending = (pending + received).split(b"\n")
            for line in lines:
                obey(line.decode(), desktop, backend)
            return True

        GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, read)
        desktop.start_others()
        desktop.when_there(desktop.programs, lambda: say("ready"))
        loop.run()
    finally:
        desktop.end()


# With --check, the imports are all that is tried.
if sys.argv[1:] != ["--check"]:
    main(*sys.argv[1:])
