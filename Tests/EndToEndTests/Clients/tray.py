"""Is the tray of a desktop: the watcher of StatusNotifierItem, and a reader of com.canonical.dbusmenu.

usage: tray.py
On the session bus. Says `ready` once it has its name, `registered` with what an item has registered, `item` with the
item's properties and menu when it has registered and when it says that they have changed, and `menu` with the name of
a signal of the menu and the labels in it. Each line of its input is a command: `activate` clicks the icon,
`click LABEL` an entry of its menu, `leave` gives the name up, and `return` takes it again.
"""

import hashlib
import json
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

WATCHER = "org.kde.StatusNotifierWatcher"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Tray(dbus.service.Object):
    def __init__(self, bus):
        super().__init__(bus, "/StatusNotifierWatcher")
        self.bus = bus
        self.service = None

    @dbus.service.method(WATCHER, in_signature="s", sender_keyword="sender")
    def RegisterStatusNotifierItem(self, service, sender):
        say("registered", service=service, sender=sender)
        if service == self.service:
            return
        self.service = service
        # The connection's own name: the owner of another one would be asked for first, and signals are lost meanwhile.
        for interface in (ITEM, MENU):
            self.bus.add_signal_receiver(self.changed, dbus_interface=interface, bus_name=sender, member_keyword="member")
        GLib.idle_add(self.read)

    def changed(self, *arguments, member):
        if member in ("ItemsPropertiesUpdated", "LayoutUpdated"):
            items = arguments[0] if member == "ItemsPropertiesUpdated" else []
            say("menu", member=member, labels=[entry.get("label") for _, entry in items])
        GLib.idle_add(self.read)

    def object(self, path, interface):
        return dbus.Interface(self.bus.get_object(self.service, path, introspect=False), interface)

    def layout(self):
        path = self.object("/StatusNotifierItem", PROPERTIES).Get(ITEM, "Menu")
        menu = self.object(path, MENU)
        revision, (root, properties, children) = menu.GetLayout(dbus.Int32(0), dbus.Int32(-1), dbus.Array([], "s"))
        assert root == 0 and properties["children-display"] == "submenu"
        return menu, [(int(number), dict(entry)) for number, entry, _ in children]

    def read(self):
        values = self.object("/StatusNotifierItem", PROPERTIES).GetAll(ITEM)
        _, entries = self.layout()
        _, _, title, text = values["ToolTip"]
        icons = [{
            "width": int(width), "height": int(height), "bytes": len(pixels),
            "hash": hashlib.sha256(bytes(pixels)).hexdigest(),
        } for width, height, pixels in values["IconPixmap"]]
        say(
            "item", id=values["Id"], status=values["Status"], iconName=values["IconName"], title=title, text=text,
            icons=icons, labels=[entry.get("label", entry.get("type")) for _, entry in entries],
            disabled=[entry["label"] for _, entry in entries if not entry.get("enabled", True)])

    def click(self, label):
        menu, entries = self.layout()
        number = next(number for number, entry in entries if entry.get("label") == label)
        # As panels do before they show a menu.
        menu.AboutToShow(dbus.Int32(0))
        menu.Event(dbus.Int32(number), "clicked", dbus.String("", variant_level=1), dbus.UInt32(0))

    def command(self, line):
        word, _, rest = line.partition(" ")
        if word == "activate":
            self.object("/StatusNotifierItem", ITEM).Activate(dbus.Int32(0), dbus.Int32(0))
        elif word == "click":
            self.click(rest)
        elif word == "leave":
            self.bus.release_name(WATCHER)
            say("left")
        elif word == "return":
            self.bus.request_name(WATCHER)


def heard(stream, condition, tray):
    text = os.read(stream, 4096).decode()
    for line in text.splitlines():
        tray.command(line)
    return bool(text)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
tray = Tray(bus)
bus.request_name(WATCHER)
say("ready")
GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, heard, tray)
GLib.MainLoop().run()
