"""The keys and the keyboard of a Wayland desktop for tests: `wayland_desktop.py` says what it is made of."""

import dbus
import dbus.service

from wayland_programs import KEYS, say

REMOTE = "org.gnome.Mutter.RemoteDesktop"


class Keyboard:
    """The desktop's keyboard, whose keys are pressed as by a remote desktop."""

    def __init__(self, bus):
        remote = dbus.Interface(bus.get_object(REMOTE, "/org/gnome/Mutter/RemoteDesktop"), REMOTE)
        self.session = dbus.Interface(bus.get_object(REMOTE, remote.CreateSession()), f"{REMOTE}.Session")
        self.session.Start()

    def press(self, codes):
        for code in codes:
            self.session.NotifyKeyboardKeycode(dbus.UInt32(code), True)
        for code in reversed(codes):
            self.session.NotifyKeyboardKeycode(dbus.UInt32(code), False)


class Keys(dbus.service.Object):
    """The part of the portal's backend that binds keys, and the person who is asked for them. It is a base class because
    another interface of the same object also has a method `CreateSession`."""

    def __init__(self, bus):
        super().__init__(bus, "/org/freedesktop/portal/desktop")
        # By the paths of the sessions: the portal's identifiers of the applications, and the names of bound keys.
        self.applications, self.bound, self.key_answer = {}, {}, "0"

    @dbus.service.method(KEYS, in_signature="oosa{sv}", out_signature="ua{sv}")
    def CreateSession(self, handle, session, application, options):
        self.add_session(session)
        self.applications[session] = application
        # Version 1.16 of the portal needs the list here, too.
        return dbus.UInt32(0), self.results([])

    @dbus.service.method(KEYS, in_signature="ooa(sa{sv})sa{sv}", out_signature="ua{sv}")
    def BindShortcuts(self, handle, session, shortcuts, window, options):
        for name, wish in shortcuts:
            say(f"bind {name} trigger={wish['preferred_trigger']} application={self.applications[session]}")
        if self.key_answer not in ("0", "none"):
            return dbus.UInt32(int(self.key_answer)), dbus.Dictionary({}, signature="sv")
        self.bound[session] = [name for name, wish in shortcuts]
        return dbus.UInt32(0), self.results([] if self.key_answer == "none" else shortcuts)

    def results(self, shortcuts):
        entries = [
            dbus.Struct((name, dbus.Dictionary({
                "description": wish["description"], "trigger_description": "Press " + wish["preferred_trigger"],
            }, signature="sv")), signature="sa{sv}") for name, wish in shortcuts
        ]
        return dbus.Dictionary({"shortcuts": dbus.Array(entries, signature="(sa{sv})")}, signature="sv")

    @dbus.service.signal(KEYS, signature="osta{sv}")
    def Activated(self, session, name, time, options):
        pass

    def activate(self):
        for session, names in self.bound.items():
            for name in names:
                self.Activated(dbus.ObjectPath(session), name, dbus.UInt64(0), dbus.Dictionary({}, signature="sv"))
