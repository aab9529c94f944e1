"""The monitors of a Wayland desktop for tests: `wayland_desktop.py` says what it is made of."""

import dbus
from gi.repository import GLib

DISPLAYS = "org.gnome.Mutter.DisplayConfig"


def display_config(bus):
    return dbus.Interface(bus.get_object(DISPLAYS, "/org/gnome/Mutter/DisplayConfig"), DISPLAYS)


def when_monitors(bus, count, then):
    """Calls `then` once the compositor has so many monitors."""

    def check():
        if len(display_config(bus).GetCurrentState()[1]) != count:
            return True
        then()
        return False

    GLib.timeout_add(20, check)


def configure_monitors(bus, numbers, transform=0, scale=1.0):
    """Has these monitors side by side, the primary one first. Those that are left out count as unplugged."""
    displays = display_config(bus)
    serial, monitors = displays.GetCurrentState()[:2]
    # Each has an identity, whose first part is the connector, and modes: name, width and more.
    monitors = sorted(monitors, key=lambda monitor: str(monitor[0][0]))
    options = dbus.Dictionary({}, signature="sv")
    logical, left = [], 0
    for number in numbers:
        identity, modes = monitors[number][:2]
        monitor = dbus.Struct((identity[0], modes[0][0], options), signature="ssa{sv}")
        place = (dbus.Int32(left), dbus.Int32(0), dbus.Double(scale), dbus.UInt32(transform), dbus.Boolean(left == 0))
        logical.append(
            dbus.Struct((*place, dbus.Array([monitor], signature="(ssa{sv})")), signature="iiduba(ssa{sv})"))
        left += int(modes[0][1])
    # 1: until something else changes the monitors, and nobody is asked to confirm it.
    displays.ApplyMonitorsConfig(serial, dbus.UInt32(1), dbus.Array(logical, signature="(iiduba(ssa{sv}))"), options)
