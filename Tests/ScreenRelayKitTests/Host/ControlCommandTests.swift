import CaptureLink
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import Signalling
import TestSupport
import Testing
import TrackHub

@testable import ScreenRelayKit

@Suite("The control socket's lines")
struct ControlCommandTests {
    typealias Change = ControlCommand.RateChange

    static let commands: [(line: String, command: ControlCommand)] = [
        ("pause", .pause), ("resume", .resume), ("mute", .mute), ("unmute", .unmute), ("mute mic", .muteMicrophone),
        ("unmute mic", .unmuteMicrophone), ("stop", .stop),
        ("status", .status), ("status json", .statusJSON),
        ("sharpen", .sharpen), ("rooms", .rooms), ("link", .link),
        ("remove 6b1c2b0e-1f0e-4b6e-9d0a-2f6c1a5b7c3d", .remove("6b1c2b0e-1f0e-4b6e-9d0a-2f6c1a5b7c3d")),
        ("push list", .push(.list)), ("push stop 1", .push(.stop(1))), ("push restart 64", .push(.restart(64))),
        ("push reload 2", .push(.reload(2, preset: nil))), ("push reload 3 low1", .push(.reload(3, preset: "low1"))),
        ("push add rtmp://a.example/app/key", .push(.add(url: "rtmp://a.example/app/key", preset: nil))),
        (
            "push add srt://a.example:9 high1,fps=30",
            .push(.add(url: "srt://a.example:9", preset: "high1,fps=30"))
        ),
        ("rate fps=10", .rate(Change(framesPerSecond: .atMost(10)))),
        ("rate bitrate=600000", .rate(Change(bitsPerSecond: .atMost(600_000)))),
        ("rate fps=max bitrate=10000", .rate(Change(framesPerSecond: .unlimited, bitsPerSecond: .atMost(10_000)))),
        (
            "rate fps=120 bitrate=1000000000",
            .rate(Change(framesPerSecond: .atMost(120), bitsPerSecond: .atMost(1_000_000_000)))
        ),
    ]

    @Test("every command is read as it is written, and none is longer than a request may be")
    func lines() {
        for (line, command) in Self.commands {
            #expect(ControlCommand(line: line) == command)
            #expect(command.line == line)
            #expect(line.utf8.count < ControlLine.requestLimit)
        }
    }

    @Test(
        "what is out of range, said twice or left out is no command",
        arguments: [
            "", " ", "rate", "rate ", "rate fps", "rate fps=", "rate fps=0", "rate fps=121", "rate fps=-1",
            "rate fps=+5",
            "rate fps=1 fps=2", "rate fps=10  bitrate=20000", "rate bitrate=9999", "rate bitrate=1000000001",
            "rate bitrate=99999999999999999999", "rate bitrate=4M", "rate fps=max fps=max", "rate size=3", "status xml",
            "status json json", "pause now", "mute now", "unmute ", "Pause", "stop=", "sharpen 10", "rate =10",
            "rooms json", "link json", "remove", "remove ", "remove a b", "rate fps==1",
            "push", "push list all", "push add", "push add a b c", "push add  a", "push stop", "push stop +1",
            "push stop 01",
            "push restart 0", "push restart x", "push reload", "push reload low1", "push reload 0 low1",
            "push reload 1 ", "push reload 1 low1 low2",
        ])
    func refused(_ line: String) {
        #expect(ControlCommand(line: line) == nil)
    }

    @Test("no part and no mutation of a line is taken for what it isn't")
    func mutations() {
        var random = SeededRandom(seed: 41)
        for (line, command) in Self.commands {
            for count in 0..<line.utf8.count {
                let part = String(line.prefix(count))
                if let read = ControlCommand(line: part) {
                    #expect(read != command)
                    #expect(ControlCommand(line: read.line) == read)
                }
            }
            for _ in 0..<500 {
                let text = String(decoding: random.mutation(of: Array(line.utf8)), as: UTF8.self)
                guard let read = ControlCommand(line: text) else { continue }
                #expect(ControlCommand(line: read.line) == read)
            }
        }
    }

    @Test("a change of one limit leaves the other")
    func change() {
        var limits = Change(framesPerSecond: .atMost(10)).applied(to: SourceLimits())
        limits = Change(bitsPerSecond: .atMost(20_000)).applied(to: limits)
        #expect(
            limits
                == SourceLimits(
                    frameRate: FrameRate(framesPerSecond: 10), bitRate: BitRate(bitsPerSecond: 20_000)))
        limits = Change(framesPerSecond: .unlimited).applied(to: limits)
        #expect(limits == SourceLimits(bitRate: BitRate(bitsPerSecond: 20_000)))
    }

    @Test("no limit goes above what the capture was started with")
    func ceiling() {
        let most = SourceLimits(
            frameRate: FrameRate(framesPerSecond: 30), bitRate: BitRate(bitsPerSecond: 4_000_000))
        let change = Change(framesPerSecond: .atMost(60), bitsPerSecond: .atMost(600_000))
        let limits = change.applied(to: SourceLimits(), most: most)
        #expect(limits.frameRate == most.frameRate && limits.bitRate == BitRate(bitsPerSecond: 600_000))
        #expect(
            Change(framesPerSecond: .unlimited, bitsPerSecond: .unlimited).applied(to: limits, most: most)
                == SourceLimits())
    }

    @Test("a program's answer may be long, and a person's is cut off")
    func lengths() throws {
        let temporary = try TemporaryFolder()
        let folder = SocketFolder(
            environment: .init(
                runtimeDirectory: temporary.path, temporaryDirectory: nil, userDirectories: "/nowhere", user: geteuid())
        )
        let server = try ControlServer(in: folder, process: 1) { command in
            command == .pause ? .refused("not now") : .done(String(repeating: "x", count: 3000))
        }
        defer { server.stop() }
        let client = ControlClient(in: folder)
        #expect(try client.ask(.statusJSON, of: 1).count == 3000)
        #expect(try client.ask(.rooms, of: 1).count == 3000)
        #expect(try client.ask(.status, of: 1).count == 3000)
        #expect(try client.ask(.link, of: 1).count == 3000)
        #expect(try client.ask(.sharpen, of: 1).count == 512 - 4)
        do throws(ControlError) {
            _ = try client.ask(.pause, of: 1)
            Issue.record("it was done")
        } catch {
            #expect(error.description == "process 1: not now")
        }
    }
}
