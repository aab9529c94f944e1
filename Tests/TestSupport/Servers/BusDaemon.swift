import Glibc
import Processes

/// A D-Bus daemon of its own for a test, on which the user may do everything. It ends when this object is released.
public final class BusDaemon {
    /// The address of the bus, for `DBUS_SESSION_BUS_ADDRESS` or `DBUS_SYSTEM_BUS_ADDRESS`.
    public let address: String
    private let folder: TemporaryFolder
    private let daemon: ChildProcess

    /// Starts it, and waits until it accepts connections. `environment` are changes to the variables of the daemon and
    /// of the programs that it starts.
    public init(environment: [String: String?] = [:]) throws {
        folder = try TemporaryFolder()
        let socket = folder.file("bus")
        address = "unix:path=\(socket)"
        var launch = Launch("dbus-daemon", ["--session", "--nofork", "--nopidfile", "--address=\(address)"])
        launch.environment = environment
        launch.standardOutput = .null
        launch.standardError = .text(limit: 16 * 1024)
        daemon = try ChildProcess(launch)
        let daemon = daemon
        try eventually("the bus: \(daemon.errorOutput?.text ?? "")") { access(socket, F_OK) == 0 ? () : nil }
    }

    deinit { close() }

    /// Ends the bus. Idempotent.
    public func close() { daemon.stop(within: .seconds(2)) }
}
