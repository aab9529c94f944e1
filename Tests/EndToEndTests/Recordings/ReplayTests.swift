import CaptureLink
import Glibc
import MediaTypes
import Processes
import Recording
import RecordingFiles
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Replays and recordings", .enabled(if: EndToEnd.isPossible))
    struct Replays {
        @Test(
            "every stream comes out of replay, link, recording and export byte for byte",
            arguments: TestStreams.all)
        func everyStream(stream: TestStream) throws {
            let host = try RecordingHost()
            let replay = try host.replay([stream.path, "--speed", "max"])
            #expect(replay.status == .exited(0), "\(replay.errorOutput)")
            try host.finish()
            let folder = try TemporaryFolder()
            let output = folder.file("out.h264")
            let export = try CommandLineRun(["screenrelay", "export", host.recording, "-o", output])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            #expect(try fileBytes(output) == stream.bytes())
            let connection = try #require(try RecordedConnection.all(of: host.recording).first)
            #expect(connection.hello?.role == .replay)
            #expect(connection.end?.reason == .endOfRecording)
        }

        @Test("a recording of a share is replayed to the byte, at its own pace, and again under another epoch")
        func share() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            defer { desktop.stop() }
            let folder = try TemporaryFolder()
            let file = folder.file("share.srr")
            let capture = try RunningProgram(
                "screenrelay-capture",
                ["--link", "unix:" + folder.file("none.sock"), "--display", desktop.screen.name, "--record", file])
            try eventually("two seconds of recording") {
                try? RecordedConnection.all(of: file).first?.duration ?? .zero > .seconds(2) ? () : nil
            }
            #expect(capture.stop() == .exited(0))
            let recorded = try #require(try RecordedConnection.all(of: file).first)
            #expect(recorded.hello?.role == .capture)
            #expect(recorded.end?.reason == .stopped)

            let host = try RecordingHost()
            let once = try host.replay([file])
            #expect(once.status == .exited(0), "\(once.errorOutput)")
            let again = try host.replay([file, "--speed", "max"])
            #expect(again.status == .exited(0), "\(again.errorOutput)")
            let part = try host.replay([file, "--speed", "max", "--from", "1s"])
            #expect(part.status == .exited(0), "\(part.errorOutput)")
            try host.finish()
            let arrived = try RecordedConnection.all(of: host.recording)
            #expect(arrived.count == 3)
            for connection in arrived.prefix(2) {
                #expect(connection.passed.map(\.bytes) == recorded.passed.map(\.bytes))
            }
            // It may be late by a scheduler's turn now and then; the benchmark checks the longest delay.
            let lateness = zip(recorded.passed, arrived[0].passed).map { before, after in
                ((after.time - arrived[0].passed[0].time) - (before.time - recorded.passed[0].time)).milliseconds
            }
            #expect(lateness.sorted()[lateness.count / 2] < 20, "\(lateness)")
            let epoch = try #require(recorded.passed.first?.epoch)
            #expect(arrived[2].passed.allSatisfy { $0.epoch != epoch })
            // The screen's one IDR picture is at the beginning.
            #expect(arrived[2].annexB == recorded.annexB)
        }

        @Test("a recording that was cut gives what is whole, says where it ends, and ends with 65")
        func cut() throws {
            let folder = try TemporaryFolder()
            let first = try RecordingHost()
            let stream = TestStreams.small
            _ = try first.replay([stream.path, "--speed", "max"])
            try first.finish()
            let whole = try fileBytes(first.recording)
            let file = try folder.write("cut.srr", Array(whole.prefix(whole.count / 2)))
            let host = try RecordingHost()
            let run = try host.replay([file, "--speed", "max"])
            #expect(run.status == .exited(65))
            #expect(run.errorLine?.contains("the file ends inside the record at byte ") == true, "\(run.errorOutput)")
            try host.finish()
            let arrived = try #require(try RecordedConnection.all(of: host.recording).first)
            #expect(!arrived.annexB.isEmpty)
            #expect(try stream.bytes().starts(with: arrived.annexB))
        }

        @Test("it stands still before a picture until a signal, loops until stopped, and says what it has sent")
        func pauses() throws {
            let host = try RecordingHost()
            let stream = TestStreams.small.path
            let replay = try RunningProgram(
                "screenrelay",
                ["replay", "--link", host.address, "--speed", "max", "--pause-at", "5", "--loop", stream])
            try eventually("the first pause") { replay.output.contains("Paused before picture 5.") ? () : nil }
            replay.child.terminate(SIGUSR1)
            try eventually("the second pause") {
                replay.output.split(separator: "\n").count { $0.hasPrefix("Paused before picture 5.") } == 2 ? () : nil
            }
            #expect(replay.stop() == .exited(0))
            #expect(replay.output.contains(", 104 pictures in "), "\(replay.output)")
            try host.finish()
            let arrived = try #require(try RecordedConnection.all(of: host.recording).first)
            #expect(Set(arrived.passed.map(\.epoch)).count == 2)
            #expect(arrived.end?.reason == .stopped)
        }

        @Test("what it says of a replay is lost on a full disk, and one line tells that")
        func fullOutput() throws {
            let host = try RecordingHost()
            let stream = TestStreams.small.path
            let program = try #require(builtProgram("screenrelay"))
            var launch = Launch(
                "/bin/sh",
                [
                    "-c", "exec \"$0\" replay --link \"$1\" --speed max \"$2\" >/dev/full", program, host.address,
                    stream,
                ])
            launch.standardError = .text(limit: 1 << 16)
            let run = try ChildProcess.run(launch, within: .seconds(120))
            #expect(run.status == .exited(74))
            #expect(run.errorOutput == "screenrelay: standard output: No space left on device\n")
            try host.finish()
        }

        @Test("mistakes are one line each")
        func mistakes() throws {
            let folder = try TemporaryFolder()
            let garbage = try folder.write("garbage", Array("not a recording at all".utf8))
            let stream = try folder.write("stream.h264", [0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2])
            let nowhere = ["--link", "unix:" + folder.file("none.sock")]
            for (words, code, says) in [
                ([folder.file("missing")] + nowhere, 66, "does not exist"),
                ([garbage] + nowhere, 65, "neither a recording"),
                ([stream] + nowhere, 69, "no host listens"),
                ([stream, "--speed", "0"] + nowhere, 64, "--speed 0: not a speed"),
                ([stream, "--speed", "fast"] + nowhere, 64, "or max"),
                ([stream, "--speed", "0.0009"] + nowhere, 64, "from 0.001 to 1000"),
                ([stream, "--speed", "1000.001"] + nowhere, 64, "from 0.001 to 1000"),
                ([stream, "--speed", "0.001"] + nowhere, 69, "no host listens"),
                ([stream, "--speed", "1000"] + nowhere, 69, "no host listens"),
                ([stream, "--from", "1h"] + nowhere, 64, "--from 1h: '\(stream)' ends after 0.000 s"),
                ([stream, "--pause-at", "0"] + nowhere, 64, "picture number"),
                (nowhere, 64, "FILE"),
            ] as [([String], Int32, String)] {
                let run = try CommandLineRun(["screenrelay", "replay"] + words)
                #expect(run.status == .exited(code), "\(words): \(run.errorOutput)")
                #expect(run.errorLine?.contains(says) == true, "\(words): \(run.errorOutput)")
            }
            let exists = try CommandLineRun(["screenrelay", "host", "--record", garbage] + nowhere)
            #expect(exists.status == .exited(73))
            #expect(
                exists.errorLine?.contains("--record: '\(garbage)' exists already") == true, "\(exists.errorOutput)")
        }

        @Test(
            "where the file may not grow any more one line says so, and the share goes on with a file that can be read")
        func full() throws {
            // 512 bytes a block.
            let host = try RecordingHost(prefix: ["/bin/sh", "-c", "ulimit -f 100; exec \"$0\" \"$@\""])
            let stream = TestStreams.desktop.path
            let first = try host.replay([stream, "--speed", "max"])
            #expect(first.status == .exited(0))
            try host.program.waitForLog("--record: ")
            let second = try host.replay([stream, "--speed", "max"])
            #expect(second.status == .exited(0))
            try host.finish()
            #expect(host.program.occurrences(of: "--record: ") == 1)
            let file = try RecordedFile(path: host.recording)
            var messages = 0
            while let item = try file.next() { if case .message = item.content { messages += 1 } }
            #expect(messages > 0)
            #expect(file.fault == nil)
        }
    }
}

/// `screenrelay host --record`, in a folder of its own.
final class RecordingHost {
    let program: RunningProgram
    let recording: String
    let address: String
    private let folder: TemporaryFolder

    init(prefix: [String] = []) throws {
        folder = try TemporaryFolder()
        recording = folder.file("arrived.srr")
        address = "unix:" + folder.file("s.sock")
        program = try RunningProgram(
            "screenrelay", ["host", "--link", address, "--record", recording] + LinkSocket.hostOptions, prefix: prefix)
        _ = try program.printedLink()
    }

    /// Sends a file to it, up to the file's end.
    func replay(_ words: [String]) throws -> CommandLineRun {
        try CommandLineRun(["screenrelay", "replay", "--link", address] + words)
    }

    /// Ends the host, and with it the recording.
    func finish() throws {
        #expect(program.stop() == .exited(0), "\(program.log)")
    }
}

/// One connection in a recording.
struct RecordedConnection {
    /// A message that a replay passes on.
    struct Passed {
        let bytes: [UInt8]
        let time: Interval
        let epoch: UInt64
    }

    var hello: Hello?
    var end: EndNotice?
    var passed: [Passed] = []
    /// The bytes of the stream, as an export writes them.
    var annexB: [UInt8] = []
    var duration: Interval { passed.last?.time ?? .zero }

    static func all(of path: String) throws -> [RecordedConnection] {
        let file = try RecordedFile(path: path)
        var connections: [RecordedConnection] = []
        while let item = try file.next() {
            if case .connection = item.content { connections.append(RecordedConnection()) }
            guard case .message(let message, .toHost) = item.content, !connections.isEmpty else { continue }
            let last = connections.count - 1
            connections[last].annexB += item.annexB ?? []
            switch (try? message.received())?.body {
            case .hello(let hello): connections[last].hello = hello
            case .end(let notice): connections[last].end = notice
            default:
                connections[last].passed.append(
                    Passed(bytes: message.bytes, time: item.arrival ?? .zero, epoch: message.header.epoch))
            }
        }
        return connections
    }
}
