import Processes
import TestSupport
import Testing

/// A session bus of its own for a test, with the programs of a desktop that it starts on it, and the shares.
final class SharersDesktop {
    private let daemon: BusDaemon
    private var notificationServer: ChildProcess?

    /// Starts the bus. `environment` are changes to the variables of the programs that the bus starts.
    init(environment: [String: String?] = [:]) throws {
        daemon = try BusDaemon(environment: environment)
    }

    deinit { notificationServer?.stop(within: .seconds(2)) }

    /// The address of the bus.
    var busAddress: String { daemon.address }

    /// Ends the bus, as a logout does.
    func endBus() { daemon.close() }

    /// Starts the tray, a client that is written only from the specifications.
    func startTray() throws -> PythonClient {
        let tray = try PythonClient("tray", in: .debian, [], environment: ["DBUS_SESSION_BUS_ADDRESS": daemon.address])
        try tray.event("ready")
        return tray
    }

    /// Starts the notification server of python-dbusmock.
    func startNotifications() throws {
        var launch = Launch("/usr/bin/python3", ["-m", "dbusmock", "--session", "--template", "notification_daemon"])
        launch.environment = ["DBUS_SESSION_BUS_ADDRESS": daemon.address]
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 16 * 1024)
        let server = try ChildProcess(launch)
        notificationServer = server
        try eventually("the notification server: \(server.errorOutput?.text ?? "")") {
            var launch = Launch(
                "dbus-send",
                [
                    "--bus=\(daemon.address)", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                    "org.freedesktop.DBus.GetNameOwner", "string:org.freedesktop.Notifications",
                ])
            launch.standardOutput = .null
            launch.standardError = .null
            return try ChildProcess.run(launch, within: .seconds(5)).0?.isSuccess == true
        }
    }

    /// The notifications so far, as the server logs the arguments.
    var notifications: [String] {
        // The last piece has no line feed yet.
        let lines = (notificationServer?.output?.text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropLast().filter { $0.contains(" Notify ") }.map(String.init)
    }

    /// Shares a screen from this desktop, on which none of the icons is installed.
    func share(_ options: [String] = [], dataFolder: String = "/nowhere") throws -> SharedDesktop {
        try SharedDesktop(
            options: options,
            prefix: ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=\(daemon.address)", "XDG_DATA_DIRS=\(dataFolder)"])
    }
}
