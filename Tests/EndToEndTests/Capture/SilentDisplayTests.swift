import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Servers that accept connections, and then say nothing.
    @Suite("A display that hangs", .enabled(if: EndToEnd.isPossible))
    struct SilentDisplayTests {
        private static let silence = "doesn't answer within 5 s"

        @Test(
            "ends each capture with exit code 69 and one line",
            arguments: [["capture"], ["share", "--list"], ["share"] + RunningProgram.anyPorts])
        func captured(words: [String]) throws {
            let server = try RawServer()
            let name = server.displayName
            let folder = try TemporaryFolder()
            let link = words.first == "capture" ? ["--link", "unix:" + folder.file("link.sock")] : []
            let run = try CommandLineRun(["screenrelay"] + words + link + ["--display", name])
            #expect(run.status == .exited(69), "\(run.errorOutput)")
            let line = "--display \(name): display '\(name)' \(Self.silence)"
            #expect(run.errorOutput.split(separator: "\n").count { $0.contains(line) } == 1, "\(run.errorOutput)")
            #expect(server.hasNext)
        }

        @Test("ends view with exit code 69 and one line")
        func viewed() throws {
            let shared = try SharedDesktop()
            defer { shared.stop() }
            let server = try RawServer()
            let words = ["screenrelay", "view", "--display", server.displayName, shared.link]
            let run = try CommandLineRun(words)
            #expect(run.status == .exited(69))
            let line = "the X server at \(server.displayName) \(Self.silence)"
            #expect(run.errorLine?.contains(line) == true, "\(run.errorOutput)")
        }

        @Test("a compositor that hangs is one line of view, which has its window on the X display if there is one")
        func compositor() throws {
            let shared = try SharedDesktop()
            defer { shared.stop() }
            let folder = try TemporaryFolder()
            let path = folder.file("wayland-0")
            let compositor = try TestSocket(listeningAt: path)
            let silent = "the Wayland compositor at WAYLAND_DISPLAY \(Self.silence)"
            let run = try CommandLineRun(["screenrelay", "view", shared.link], environment: ["WAYLAND_DISPLAY": path])
            #expect(run.status == .exited(69))
            #expect(run.errorLine?.contains("\(silent) and no X server at DISPLAY") == true, "\(run.errorOutput)")

            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let viewer = try RunningProgram(
                "screenrelay", ["view", "--stats", "text", shared.link],
                prefix: ["env", "WAYLAND_DISPLAY=\(path)", "DISPLAY=\(screen.name)"])
            try viewer.waitForLog("\(silent); the window is on the X display of DISPLAY")
            try eventually("a frame", holds: { viewer.output.contains(" fps, ") })
            #expect(viewer.child.poll() == nil)
            #expect(viewer.stop() == .exited(0))
            #expect(viewer.occurrences(of: silent) == 1)
            withExtendedLifetime((compositor, screen)) {}
        }
    }
}
