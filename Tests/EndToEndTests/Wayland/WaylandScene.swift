import Processes
import TestSupport
import Testing

/// The scene of patches in motion, in a window over all of a Wayland desktop (`Clients/wayland_window.py`). It ends
/// when this object is released.
final class WaylandScene {
    private let child: ChildProcess

    /// Shows it, and waits until the compositor has taken the first picture.
    init(on desktop: WaylandDesktop, framesPerSecond: Int = 20) throws {
        let scene = try #require(builtProgram("screenrelay-scene"))
        var launch = Launch(
            "/usr/bin/python3",
            ["\(packageRoot)/Tests/EndToEndTests/Clients/wayland_window.py", scene, "patches", "\(framesPerSecond)"])
        launch.environment = desktop.environment
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        child = try ChildProcess(launch)
        try eventually("the scene") {
            if let status = child.poll() { throw ProgramEnded(status: status, log: child.errorOutput?.text ?? "") }
            return child.output?.text == "ready\n" ? () : nil
        }
    }

    deinit { child.stop() }
}
