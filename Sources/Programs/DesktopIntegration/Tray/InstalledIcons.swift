import Glibc

/// The icons of programs on this machine (Icon Theme Specification, theme `hicolor`).
enum InstalledIcons {
    /// Whether the scalable icon of an application called `name` is installed.
    ///
    /// - Parameter environment: returns the value of a variable.
    static func contain(_ name: String, environment: (String) -> String?) -> Bool {
        func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        var folders = (value("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
        if let own = value("XDG_DATA_HOME") ?? value("HOME").map({ $0 + "/.local/share" }) { folders.append(own) }
        return folders.contains { access("\($0)/icons/hicolor/scalable/apps/\(name).svg", R_OK) == 0 }
    }
}
