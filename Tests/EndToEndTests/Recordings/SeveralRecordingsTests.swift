import CaptureLink
import Glibc
import MediaTypes
import Processes
import RecordingFiles
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A host that records several tracks", .enabled(if: EndToEnd.isPossible))
    struct SeveralRecordingsTests {
        private let folder: TemporaryFolder
        private let file: String

        init() throws {
            folder = try TemporaryFolder()
            file = folder.file("talk.srr")
        }

        /// The status of a host for programs.
        private func status(of host: RunningProgram) throws -> String {
            try CommandLineRun(["screenrelay", "status", "--json", "--pid", "\(host.child.processID)"]).output
        }

        /// The file of a further track, if the status names one.
        private func recording(of track: String, in status: String) -> String? {
            let paths = status.matches(of: /"path":"([^"]*)"/).map { String($0.output.1) }
            return paths.first { $0.hasPrefix(folder.file("talk-screen-\(track)-")) }
        }

        @Test("has the stream of each capture in its file byte for byte, and each file is replayed to the byte")
        func captures() throws {
            let links = ["a", "b"].map { "unix:" + folder.file($0 + ".sock") }
            let host = try RunningProgram(
                "screenrelay",
                ["host", "--link", links[0], "--track", "second=" + links[1], "--record", file]
                    + LinkSocket.hostOptions)
            _ = try host.printedLink()
            let streams = [TestStreams.small, TestStreams.desktop]
            for (link, stream) in zip(links, streams) {
                let words = ["replay", "--link", link, "--speed", "max", stream.path]
                let replay = try CommandLineRun(["screenrelay"] + words)
                #expect(replay.status == .exited(0), "\(replay.errorOutput)")
            }
            let second = try #require(recording(of: "second", in: try status(of: host)))
            #expect(host.stop() == .exited(0))
            #expect(host.occurrences(of: "--record") == 0)
            for (path, stream) in zip([file, second], streams) {
                let recorded = try #require(try RecordedConnection.all(of: path).first)
                #expect(recorded.annexB == (try stream.bytes()))
                let other = try RecordingHost()
                let replay = try other.replay([path, "--speed", "max"])
                #expect(replay.status == .exited(0), "\(replay.errorOutput)")
                try other.finish()
                let arrived = try #require(try RecordedConnection.all(of: other.recording).first)
                #expect(arrived.passed.map(\.bytes) == recorded.passed.map(\.bytes))
            }
        }

        @Test("a share records a publisher's track beside its own", .enabled(if: FFmpeg.isAvailable))
        func share() throws {
            let desktop = try SharedDesktop(options: ["--presenters", "--rtmp", "0", "--record", file])
            defer { desktop.stop() }
            let server = try #require(desktop.host.output.firstMatch(of: /rtmp:\/\/[^\/]+\/live/)).output
            let place = "\(server)/screen/film?token=\(try desktop.host.presentersToken())"
            let publisher = try PublishedRoom.publish(["-tune", "zerolatency"], to: ["-f", "flv", place])
            defer { publisher.stop(within: .zero) }
            let film = try eventually("the publisher's recording") { () throws -> String? in
                guard let path = recording(of: "film", in: try status(of: desktop.host)) else { return nil }
                return (try? fileBytes(path))?.count ?? 0 > 100_000 ? path : nil
            }
            publisher.stop(within: .zero)
            #expect(desktop.host.stop() == .exited(0))
            for path in [file, film] {
                let exported = folder.file("exported.mkv")
                let export = try CommandLineRun(["screenrelay", "export", path, "--force", "-o", exported])
                #expect(export.status == .exited(0), "\(export.errorOutput)")
                #expect(try FFmpeg.decode(exported, to: "gray").bytes.count >= 10 * 320 * 240)
            }
        }

        @Test("says once of each file that may not grow that it has stopped, and ends with 0")
        func exhausted() throws {
            // 512 bytes a block: no file may have more than 50 KB.
            let links = ["a", "b"].map { "unix:" + folder.file($0 + ".sock") }
            let host = try RunningProgram(
                "screenrelay",
                ["host", "--link", links[0], "--track", "second=" + links[1], "--record", file]
                    + LinkSocket.hostOptions, prefix: ["/bin/sh", "-c", "ulimit -f 100; exec \"$0\" \"$@\""])
            _ = try host.printedLink()
            for link in links {
                let words = ["replay", "--link", link, "--speed", "max", TestStreams.desktop.path]
                let replay = try CommandLineRun(["screenrelay"] + words)
                #expect(replay.status == .exited(0), "\(replay.errorOutput)")
            }
            let second = try #require(recording(of: "second", in: try status(of: host)))
            for path in [file, second] { try host.waitForLog("'\(path)' may not grow further") }
            #expect(host.stop() == .exited(0))
            #expect(host.occurrences(of: "--record: ") == 2)
        }
    }
}
