import Processes
import TestSupport
import Testing

/// A system bus of its own for a test, on which python-dbusmock plays logind with one session.
final class LogindBus {
    private let daemon: BusDaemon
    private let logind: ChildProcess

    /// Starts it; the session belongs to `display`, as logind says it.
    init(display: String = "") throws {
        daemon = try BusDaemon()
        // Debian's own interpreter has Debian's packages.
        var launch = Launch("/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind"])
        launch.environment = ["DBUS_SYSTEM_BUS_ADDRESS": daemon.address, "DISPLAY": display]
        launch.standardOutput = .null
        launch.standardError = .text(limit: 16 * 1024)
        logind = try ChildProcess(launch)
        let logind = logind
        try eventually("the session: \(logind.errorOutput?.text ?? "")") {
            try call(
                "/org/freedesktop/login1", "org.freedesktop.DBus.Mock.AddSession",
                ["string:auto", "string:seat0", "uint32:0", "string:root", "boolean:true"])
        }
    }

    deinit { close() }

    /// The command that runs a program on this bus.
    var prefix: [String] { ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=\(daemon.address)"] }

    /// Has the desktop say whether it is locked.
    func lock(_ isLocked: Bool) throws {
        let path = "/org/freedesktop/login1/session/auto"
        #expect(try call(path, "org.freedesktop.login1.Session.SetLockedHint", ["boolean:\(isLocked)"]))
    }

    /// Ends the bus. Idempotent.
    func close() {
        logind.stop(within: .seconds(2))
        daemon.close()
    }

    private func call(_ path: String, _ method: String, _ arguments: [String]) throws -> Bool {
        var launch = Launch(
            "dbus-send",
            ["--bus=\(daemon.address)", "--print-reply", "--dest=org.freedesktop.login1", path, method] + arguments)
        launch.standardOutput = .null
        launch.standardError = .null
        return try ChildProcess.run(launch, within: .seconds(5)).0?.isSuccess == true
    }
}
