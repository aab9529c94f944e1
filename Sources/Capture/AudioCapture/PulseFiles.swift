import Glibc

/// The files that libpulse opens each time that it connects, besides those of the system (/etc, /usr).
public enum PulseFiles {
    /// The files and folders that it reads: its settings, the cookie that it shows the server, random numbers, and
    /// memory that a server shares by name.
    public static var readable: [String] {
        let home = variable("HOME") ?? getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) } ?? "/"
        let settings = variable("XDG_CONFIG_HOME") ?? home + "/.config"
        let folders = [settings + "/pulse", home + "/.pulse"]
        // Each may be a link to a file elsewhere.
        let files = folders.map { $0 + "/client.conf" } + [settings + "/pulse/cookie", home + "/.pulse-cookie"]
        return folders + files + ["/dev/urandom", "/dev/shm"]
            + ["PULSE_CLIENTCONFIG", "PULSE_COOKIE"].compactMap(variable)
    }

    /// The folders in which it looks for the folder of the server's socket, or makes that.
    public static var runtimeFolders: [String] { ["PULSE_RUNTIME_PATH", "XDG_RUNTIME_DIR"].compactMap(variable) }

    /// What the environment says; nil for nothing.
    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
