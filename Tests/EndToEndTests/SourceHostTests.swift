import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A host that reads a source", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct SourceHostTests {
        private let folder: TemporaryFolder
        /// A file with pictures for 20 s.
        private let talk: String

        init() throws {
            folder = try TemporaryFolder()
            talk = folder.file("talk.mp4")
            let raw = try folder.write("talk.264", TestStreams.small.bytes())
            let copied = try FFmpeg.run(["-f", "h264", "-r", "5", "-i", raw, "-c", "copy", talk])
            try #require(copied.status == .exited(0), "\(copied.messages)")
        }

        private func host(_ options: [String] = []) throws -> RunningProgram {
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"), ["--source", "file:" + talk] + options)
            _ = try host.printedLink()
            return host
        }

        private func ask(_ words: [String], of host: RunningProgram) throws -> CommandLineRun {
            try CommandLineRun(["screenrelay"] + words + ["--pid", "\(host.child.processID)"])
        }

        @Test("refuses limits and sharper pictures, which it can't bring about")
        func orders() throws {
            let host = try host(["--log", "info"])
            try host.waitForLog("sends H.264")
            for (words, reason) in [
                (["rate", "--fps", "5"], "the frame rate can't be limited here"),
                (["rate", "--fps", "5", "--bitrate", "50k"], "the frame rate and bit rate can't be limited here"),
                (["sharpen"], "no capture is connected"),
            ] {
                let run = try ask(words, of: host)
                #expect(run.status == .exited(69) && run.errorLine?.contains(reason) == true, "\(run.errorOutput)")
            }
            #expect(try ask(["rate", "--fps", "max"], of: host).status == .exited(0))
            #expect(try !ask(["status"], of: host).output.contains("at most"))
            #expect(host.stop() == .exited(0))
        }
    }
}
