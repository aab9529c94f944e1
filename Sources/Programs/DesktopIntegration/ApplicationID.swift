/// The name by which a desktop knows this program.
enum ApplicationID {
    /// The name of the desktop file that the package installs, without its suffix. It has a dot because GNOME gives
    /// keys only to names that GApplication accepts.
    static let name = "screenrelay.ScreenRelay"
}
