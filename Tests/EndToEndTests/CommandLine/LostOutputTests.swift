import BrowserDriver
import CaptureLink
import Foundation
import Glibc
import LinkTransport
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("Output that can't be written", .enabled(if: EndToEnd.isPossible))
    struct LostOutput {
        /// Makes standard output a full disk.
        static let onFullDisk = ["/usr/bin/bash", "-c", "exec \"$@\" > /dev/full", "bash"]

        /// Runs the program to its end; returns its exit code and what it wrote to standard error.
        private func run(_ words: [String]) throws -> (status: ProcessStatus?, said: String) {
            let program = try RunningProgram("screenrelay", words, prefix: Self.onFullDisk)
            let status = try eventually("the end of \(words)") { program.child.poll() }
            program.child.errorOutput?.waitForEnd(within: .seconds(1))
            return (status, program.log)
        }

        @Test(
            "ends what only prints something with one line and 74",
            arguments: [
                "config", "man", "completion bash", "systemd-unit", "--help", "--version", "share --help", "help host",
                "capture --help",
            ])
        func printing(_ line: String) throws {
            let (status, said) = try run(line.split(separator: " ").map(String.init))
            #expect(status == .exited(74))
            #expect(said.hasSuffix(": standard output: No space left on device\n") && said.hasPrefix("screenrelay"))
            #expect(said.split(separator: "\n").count == 1)
        }

        @Test("ends what asks a host with one line and 74, whether or not it changed something")
        func asking() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            _ = try host.printedLink()
            let process = ["--pid", "\(host.child.processID)"]
            for words in [["status"], ["status", "--json"], ["rooms"], ["rooms", "--json"], ["pause"], ["resume"]] {
                let (status, said) = try run(words + process)
                #expect(status == .exited(74), "\(words)")
                #expect(said == "screenrelay: standard output: No space left on device\n", "\(words)")
            }
        }

        @Test("is told by a host once, which goes on")
        func sharing() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram(
                "screenrelay",
                ["host", "--json", "--link", "unix:" + folder.file("s.sock")] + RunningProgram.anyPorts,
                prefix: Self.onFullDisk)
            try host.waitForLog("screenrelay: standard output: No space left on device; sharing continues")
            #expect(host.child.poll() == nil)
            #expect(host.stop() == .exited(0))
            // The event of the end is lost, too.
            #expect(host.occurrences(of: "standard output") == 1)
        }

        /// A named pipe that holds 4 KiB, and that nobody reads unless a test does.
        private final class UnreadPipe {
            /// F_SETPIPE_SZ (fcntl(2)), which Glibc does not name.
            private static let setPipeSize: Int32 = 1031
            let descriptor: Int32

            init(_ path: String) throws {
                guard mkfifo(path, 0o600) == 0 else { throw FileError(path: path, errno: errno) }
                descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
                guard descriptor >= 0, fcntl(descriptor, Self.setPipeSize, 4096) >= 0 else {
                    throw FileError(path: path, errno: errno)
                }
            }

            deinit { close(descriptor) }

            /// Whether a writer of another line would have to wait.
            var isFull: Bool {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, 0)
                return entry.revents & Int16(POLLOUT) == 0
            }

            /// Reads what has arrived and was not read yet.
            func take() -> String {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = read(descriptor, &buffer, buffer.count)
                return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            }
        }

        @Test("is told to programs, where nobody read in time, as the number of lines that are missing")
        func missing() throws {
            let folder = try TemporaryFolder()
            let output = try UnreadPipe(folder.file("out"))
            let path = folder.file("s.sock")
            let host = try RunningProgram(
                "screenrelay", ["host", "--json", "--link", "unix:" + path] + RunningProgram.anyPorts,
                prefix: ["/usr/bin/bash", "-c", "exec \"$@\" > out", "bash"], folder: folder.path)
            var text = ""
            try eventually("the links") {
                text += output.take()
                return text.hasSuffix("\n")
            }
            // Each change is a line, and the queue has 4096, beside as many that are being written.
            let changes = 10_000
            let capture = try SocketConnection.connect(to: .unix(path: path))
            defer { capture.close() }
            let encoder = MessageEncoder(epoch: 9)
            var bytes = encoder.encode(
                .hello(Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true)))
            for number in 0..<changes { bytes += encoder.encode(.sharing(number.isMultiple(of: 2) ? .paused : .live)) }
            try capture.enqueue(header: bytes + encoder.encode(.sharing(.locked)))
            try eventually("the host to read", holds: { try capture.flush() })
            try eventually("the last change") {
                let status = ["screenrelay", "status", "--json", "--pid", "\(host.child.processID)"]
                return try CommandLineRun(status).output.contains("\"state\":\"locked\"")
            }
            var states = 0
            var missing: [JSONValue] = []
            var lines: Int { missing.compactMap { $0["lines"].int }.reduce(0, +) }
            text = ""
            try eventually("all changes, or their number") {
                text += output.take()
                while let end = text.firstIndex(of: "\n") {
                    let event = try JSONDecoder().decode(JSONValue.self, from: Data(text[..<end].utf8))
                    text.removeSubrange(...end)
                    if event["event"].string == "state" { states += 1 }
                    if event["event"].string == "missing" { missing.append(event) }
                }
                return states + lines >= changes
            }
            #expect(lines > 0 && missing.allSatisfy { $0["time"].string != nil })
            // Beside the changes there is the beginning, and the last one may not have been written yet.
            #expect(states + lines <= changes + 2)
        }

        @Test(
            "freezes no viewer where nobody reads it, and keeps no program from its end",
            .enabled(if: EndToEnd.hasBrowser))
        func unread() throws {
            let folder = try TemporaryFolder()
            let output = try UnreadPipe(folder.file("out"))
            let errorOutput = try UnreadPipe(folder.file("err"))
            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let scene = try RunningProgram(
                "screenrelay-scene", ["--display", screen.name, "--scene", "patches", "--fps", "30"])
            let host = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name] + LinkSocket.hostOptions,
                prefix: ["/usr/bin/bash", "-c", "exec \"$@\" > out 2> err", "bash"], folder: folder.path)
            var printed = ""
            let link = try eventually("the link") {
                printed += output.take()
                return printed.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    .first { $0.hasPrefix("http://") }.map(String.init)
            }
            let room = try #require(RoomLink(link))
            let viewer = try ViewerPage(link, in: try Browser.shared())
            try viewer.waitUntilPlaying()
            // Each participant comes and leaves, and is reported on both.
            let join = Array("{\"eventName\":\"__join\",\"data\":{\"room\":\"\(room.room),\(room.token)\"}}".utf8)
            try eventually("both to be full", within: .seconds(120)) {
                let participant = try TestSocket(port: room.port)
                try participant.send(
                    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                // A masked text frame under 126 bytes, with a mask of zeros.
                try participant.send([0x81, 0x80 | UInt8(join.count), 0, 0, 0, 0] + join)
                try eventually("an answer") { !participant.isSilent }
                return output.isFull && errorOutput.isFull
            }
            try viewer.expectMotion(by: 90, within: .seconds(90))
            // A viewer who comes now is let in, and sees motion, too.
            let late = try ViewerPage(link, in: try Browser.shared())
            try late.waitUntilPlaying()
            try late.expectMotion(by: 30, within: .seconds(90))
            try viewer.expectMotion(by: 30, within: .seconds(90))
            #expect(host.stop(within: .seconds(10)) == .exited(0))
            scene.stop()
        }
    }
}
