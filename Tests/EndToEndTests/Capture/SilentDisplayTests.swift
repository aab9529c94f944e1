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
            let run = try CommandLineRun(["screenrelay"] + words + ["--display", name])
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
    }
}
