public import MediaTypes
import Processes

/// A Wayland desktop for one test, without a GPU, a display or a person (`Tests/WaylandCaptureTests/wayland_desktop.py`
/// says what it is made of). It ends when it is released.
public final class WaylandDesktop: Sendable {
    /// What a desktop has besides its bus.
    public enum Part: String, Sendable {
        /// The desktop portal.
        case portal
        /// The portal's backend, which stands for the person who is asked.
        case backend
        /// Keys that the backend binds for applications.
        case keys
        /// PipeWire, WirePlumber and a compositor with one monitor.
        case screen
        /// A second monitor of the compositor, which is placed by the command `plug`.
        case second
        /// The compositor has no monitor.
        case bare
        /// New monitors that the backend has the compositor make for applications.
        case newMonitors = "new"

        /// All that most tests need; the compositor has one monitor, and makes none.
        public static let usual: [Part] = [.portal, .backend, .keys, .screen]
    }

    /// The address of the desktop's session bus.
    public let busAddress: String
    /// The variables of programs that show something there.
    public let environment: [String: String?]
    private let folder: TemporaryFolder
    private let child: ChildProcess

    private static let program = packageRoot + "/Tests/WaylandCaptureTests/wayland_desktop.py"

    /// Whether all of it is installed.
    public static let isAvailable: Bool = {
        let programs = [
            "dbus-daemon", "pipewire", "wireplumber", "mutter", "/usr/libexec/xdg-desktop-portal",
            "/usr/libexec/xdg-permission-store",
        ]
        guard programs.allSatisfy({ ProgramLookup.path(of: $0) != nil }) else { return false }
        var launch = Launch("/usr/bin/python3", [program, "--check"])
        launch.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        let check = try? ChildProcess.run(launch, within: .seconds(90))
        return check?.status == .exited(0)
    }()

    /// Starts a desktop of these parts, each of whose monitors has `size`, and waits until all of them are there.
    public init(
        _ parts: [Part] = Part.usual, size: PictureSize = PictureSize(width: 1280, height: 720)
    ) throws {
        folder = try TemporaryFolder()
        busAddress = "unix:path=\(folder.file("bus"))"
        environment = [
            "DBUS_SESSION_BUS_ADDRESS": busAddress, "XDG_RUNTIME_DIR": folder.file("run"),
            "WAYLAND_DISPLAY": "wayland-test", "DISPLAY": nil,
        ]
        var launch = Launch(
            "/usr/bin/python3",
            [Self.program, folder.path, "\(size.width)x\(size.height)"] + parts.map(\.rawValue))
        launch.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        child = try ChildProcess(launch)
        try eventually(
            "the Wayland desktop",
            holds: {
                if child.poll() != nil { throw WaylandDesktopError.ended(child.errorOutput?.text ?? "") }
                return count(of: "ready") > 0
            })
    }

    deinit { child.stop(within: .seconds(5)) }

    /// The lines that it has written: what happens at the desktop.
    public var lines: [String] { (child.output?.text ?? "").split(separator: "\n").map { String($0) } }

    /// How many of the lines are this one.
    public func count(of line: String) -> Int { lines.count { $0 == line } }

    /// Has it obey a command, and waits until it has.
    public func tell(_ command: String) throws {
        let before = count(of: "done \(command)")
        try child.write(Array("\(command)\n".utf8))
        try eventually("the desktop's \(command)", holds: { count(of: "done \(command)") > before })
    }
}

/// Why a Wayland desktop could not be started.
public enum WaylandDesktopError: Error, CustomStringConvertible {
    /// It ended at once; the text is what it wrote to standard error.
    case ended(String)

    public var description: String {
        switch self {
        case .ended(let text): "the Wayland desktop did not start: \(text)"
        }
    }
}
