import MediaTypes
import Processes
import TestSupport
import Testing

/// A window of a Wayland desktop, over all of it unless it has a size of its own (`Clients/wayland_window.py`). It ends
/// when this object is released.
final class WaylandWindow {
    private let child: ChildProcess

    /// Opens it in the colour `RRGGBB`, and waits until the compositor has taken the picture.
    convenience init(on desktop: WaylandDesktop, _ color: String) throws {
        try self.init(on: desktop, arguments: [color])
        try waitUntilPainted(color)
    }

    /// Opens it in the colour `RRGGBB` and in a size of its own, and waits until it has the keyboard.
    convenience init(on desktop: WaylandDesktop, _ color: String, size: PictureSize) throws {
        try self.init(on: desktop, arguments: [color, "\(size)"])
        try wait(for: "active\n", "the keyboard for the window in \(color)")
    }

    /// Shows the scene of patches in motion, and waits until the compositor has taken the first picture.
    convenience init(ofPatchesOn desktop: WaylandDesktop, framesPerSecond: Int = 20) throws {
        let scene = try #require(builtProgram("screenrelay-scene"))
        try self.init(on: desktop, arguments: [scene, "patches", "\(framesPerSecond)"])
        try wait(for: "ready\n", "the scene")
    }

    private init(on desktop: WaylandDesktop, arguments: [String]) throws {
        var launch = Launch(
            "/usr/bin/python3", ["\(packageRoot)/Tests/EndToEndTests/Clients/wayland_window.py"] + arguments)
        launch.environment = desktop.environment
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        child = try ChildProcess(launch)
    }

    deinit { child.stop() }

    /// Closes it.
    func close() { child.stop() }

    /// Paints it in another colour, and waits until the compositor has taken the picture. A window with a size of its
    /// own may get another one.
    func paint(_ color: String, size: PictureSize? = nil) throws {
        let line = size.map { "\(color) \($0)" } ?? color
        try child.write(Array("\(line)\n".utf8))
        try waitUntilPainted(color)
    }

    private func waitUntilPainted(_ color: String) throws {
        try wait(for: "painted \(color)\n", "the window in \(color)")
    }

    private func wait(for line: String, _ what: String) throws {
        try eventually(what) {
            if let status = child.poll() { throw ProgramEnded(status: status, log: child.errorOutput?.text ?? "") }
            return child.output?.text.hasSuffix(line) == true ? () : nil
        }
    }
}

extension WaylandDesktop {
    /// A command that runs a program there, with more variables.
    func prefix(_ variables: [String: String] = [:]) -> [String] {
        var removed: [String] = []
        var given = variables.map { "\($0.key)=\($0.value)" }
        for (name, value) in environment {
            if let value {
                given.append("\(name)=\(value)")
            } else {
                removed += ["-u", name]
            }
        }
        return ["env"] + removed + given
    }
}
