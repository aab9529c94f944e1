import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A host's limit of open files", .enabled(if: EndToEnd.isPossible))
    struct OpenFilesTests {
        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        /// A host that is started with other limits, as `ulimit` sets them.
        private func host(_ limit: String) throws -> RunningProgram {
            let host = try RunningProgram(
                "screenrelay", ["host", "--link", "unix:" + folder.file("s.sock")] + RunningProgram.anyPorts,
                prefix: ["sh", "-c", "ulimit \(limit); exec \"$@\"", "sh"])
            _ = try host.printedLink()
            return host
        }

        @Test("is raised as far as it may be")
        func raised() throws {
            let host = try host("-S -n 300")
            let text = String(decoding: try fileBytes("/proc/\(host.child.processID)/limits"), as: UTF8.self)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Max open files") })
            let words = line.split(separator: " ")
            #expect(words.count > 4 && words[3] != "300" && words[3] == words[4], "\(line)")
            #expect(!host.log.contains("files open"))
        }

        @Test("is named with the viewers that it allows if that is too few")
        func tooLow() throws {
            try host("-n 1024").waitForLog("warning: a host may have only 1024 files open, enough for 384 viewers; ")
        }
    }
}
