import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// What `CaptureSandboxTests` checks, with what a Wayland desktop needs: the session bus, PipeWire and its library.
    @Suite(
        "A capture of a Wayland desktop that gives up its rights",
        .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandSandboxTests {
        private static let size = PictureSize(width: 640, height: 480)
        private let desktop: WaylandDesktop
        private let window: WaylandWindow

        init() throws {
            desktop = try WaylandDesktop(size: Self.size)
            window = try WaylandWindow(on: desktop, "0000ff")
        }

        @Test("does so on all threads, unless it is told not to, and captures and records", arguments: [true, false])
        func capture(isConfined: Bool) throws {
            let folder = try TemporaryFolder()
            let capture = try LinkedCapture(
                source: ["--record", folder.file("r.srr")] + (isConfined ? [] : ["--unconfined"]),
                prefix: desktop.prefix())
            try capture.wait(for: SceneColor(0, 0, 255), at: 320, 240, "the window")
            // Besides the main thread, one writes the log and one the recording.
            let isOld = try hasOldPipeWire(capture.processID)
            #expect(try GivenUpRights.expect(isConfined, of: capture.processID) == (isOld ? 4 : 3))
            let line = GivenUpRights.line(hasOlderThreads: isOld)
            #expect(capture.program.log.contains(line) == isConfined, "\(capture.program.log)")

            try window.paint("ff0000")
            try capture.wait(for: SceneColor(255, 0, 0), at: 320, 240, "the other colour")
            #expect(capture.program.stop() == .exited(0))
            let connection = try #require(try RecordedConnection.all(of: folder.file("r.srr")).first)
            #expect(connection.end?.reason == .stopped && !connection.annexB.isEmpty)
        }

        @Test("is that of a share, unless it is told not to", arguments: [true, false])
        func share(isConfined: Bool) throws {
            let share = try RunningProgram(
                "screenrelay", ["share"] + LinkSocket.hostOptions + (isConfined ? [] : ["--capture-unconfined"]),
                prefix: desktop.prefix())
            defer { share.stop() }
            // Capture says this later.
            try share.waitForLog("connected to fd:3")
            let process = try eventually("a capture process") { share.captureProcessIDs.last }
            let isOld = try hasOldPipeWire(process)
            #expect(try GivenUpRights.expect(isConfined, of: process) == (isOld ? 3 : 2))
            let lines = share.log.split(separator: "\n").filter { $0.hasPrefix("screenrelay-capture") }
            let line = GivenUpRights.line(hasOlderThreads: isOld)
            #expect(lines.contains { "\($0)\n".hasSuffix(line) } == isConfined, "\(lines)")
        }

        /// Whether the libpipewire of a process is older than 1.2, and so has a thread, which is there before the
        /// process gives up its rights. The file of version 0.3.65 ends in 0.365.0, and that of 1.2.0 in 0.1200.0.
        private func hasOldPipeWire(_ process: Int32) throws -> Bool {
            let maps = String(decoding: try fileBytes("/proc/\(process)/maps"), as: UTF8.self)
            let version = try #require(maps.firstMatch(of: /libpipewire-0\.3\.so\.0\.(\d+)\./)).output.1
            return try #require(Int(version)) < 1200
        }
    }
}
