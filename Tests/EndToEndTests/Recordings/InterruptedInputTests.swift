import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Input from a pipe may come at any time, or never.
    @Suite("Recordings that come by a pipe", .enabled(if: EndToEnd.isPossible))
    struct PipedInput {
        private let folder: TemporaryFolder
        private let stream: [UInt8]

        init() throws {
            folder = try TemporaryFolder()
            stream = try TestStreams.small.bytes()
        }

        private func fifo(_ name: String) throws -> String {
            let path = folder.file(name)
            try #require(mkfifo(path, 0o600) == 0)
            return path
        }

        /// Sends the signal once the program waits for its input, and returns how it ended.
        private func interrupt(_ program: RunningProgram, _ signal: Int32) throws -> ProcessStatus? {
            // Once it blocks these signals, it ends in its own way. While a thread is made, the C library blocks all.
            try eventually(
                "\(program.child.processID) to block its signals",
                holds: {
                    let status = String(
                        decoding: try fileBytes("/proc/\(program.child.processID)/status"), as: UTF8.self)
                    let line = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
                    let blocked = line.flatMap { UInt64($0.suffix(16), radix: 16) } ?? 0
                    func blocks(_ signal: Int32) -> Bool { blocked & 1 << UInt64(signal - 1) != 0 }
                    return blocks(SIGINT) && blocks(SIGTERM) && !blocks(SIGUSR2)
                })
            program.child.terminate(signal)
            return program.child.wait(within: .seconds(30))
        }

        @Test("a signal ends replay and export while nobody writes", arguments: [SIGINT, SIGTERM])
        func nobodyWrites(signal: Int32) throws {
            let path = try fifo("in")
            let link = ["--link", "unix:" + folder.file("none.sock")]
            let output = folder.file("out.mp4")
            for isIdle in [false, true] {
                // The idle pipe has delivered the beginning of a NAL unit.
                let writer = isIdle ? open(path, O_RDWR | O_CLOEXEC) : -1
                defer { if writer >= 0 { close(writer) } }
                if isIdle { _ = stream.withUnsafeBytes { write(writer, $0.baseAddress, 6) } }
                let replay = try RunningProgram("screenrelay", ["replay", path] + link)
                #expect(try interrupt(replay, signal) == .exited(0))
                if isIdle { _ = stream.withUnsafeBytes { write(writer, $0.baseAddress, 6) } }
                let export = try RunningProgram("screenrelay", ["export", path, "-o", output])
                #expect(try interrupt(export, signal) == .signaled(signal))
                export.child.errorOutput?.waitForEnd(within: .seconds(10))
                #expect(export.log.contains("interrupted: '\(output)' was not written"))
            }
            let input = try RunningProgram("screenrelay", ["replay", "-"] + link, input: .pipe)
            #expect(try interrupt(input, signal) == .exited(0))
            #expect(access(output, F_OK) != 0)
        }

        @Test("a replay of a pipe stands still and goes on by a signal, loses none of it, and ends while it waits")
        func pauses() throws {
            let host = try RecordingHost()
            let replay = try RunningProgram(
                "screenrelay", ["replay", "--link", host.address, "--speed", "max", "--pause-at", "3", "-"],
                input: .pipe)
            try replay.child.write(stream)
            try eventually("the pause") { replay.output.contains("Paused before picture 3. SIGUSR1 (kill") ? () : nil }
            replay.child.terminate(SIGUSR1)
            try eventually("most of the stream") {
                let connection = try? RecordedConnection.all(of: host.recording).first
                // The last NAL unit waits for the one after it.
                return connection?.passed.count ?? 0 > 90 ? () : nil
            }
            replay.child.terminate(SIGINT)
            #expect(replay.child.wait(within: .seconds(30)) == .exited(0))
            try host.finish()
            let arrived = try #require(try RecordedConnection.all(of: host.recording).first)
            #expect(stream.starts(with: arrived.annexB))
            #expect(arrived.annexB.count > stream.count / 2)
            #expect(arrived.end?.reason == .stopped)
        }

        @Test("standard input to its end is sent whole")
        func whole() throws {
            let host = try RecordingHost()
            let replay = try RunningProgram(
                "screenrelay", ["replay", "--link", host.address, "--speed", "max", "--pause-at", "1000", "-"],
                input: .pipe)
            try replay.child.write(stream)
            replay.child.closeInput()
            #expect(replay.child.wait(within: .seconds(90)) == .exited(0))
            replay.child.errorOutput?.waitForEnd(within: .seconds(10))
            #expect(replay.log.contains("--pause-at 1000 was not reached: the recording has "))
            try host.finish()
            #expect(try RecordedConnection.all(of: host.recording).first?.annexB == stream)
        }

        @Test("what a pipe can't do is said before it is read")
        func onceOnly() throws {
            let path = try fifo("in")
            let writer = open(path, O_RDWR | O_CLOEXEC)
            defer { close(writer) }
            _ = stream.withUnsafeBytes { write(writer, $0.baseAddress, 4000) }
            for option in [["--loop"], ["--from", "1s"]] {
                let words = ["screenrelay", "replay", path, "--link", "unix:" + folder.file("none.sock")] + option
                let run = try CommandLineRun(words)
                #expect(run.status == .exited(64))
                #expect(run.errorLine?.contains("\(option[0]): '\(path)' is a pipe") == true, "\(run.errorOutput)")
                _ = stream.withUnsafeBytes { write(writer, $0.baseAddress, 4000) }
            }
        }
    }
}
