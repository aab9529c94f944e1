import TestSupport
import Testing

@testable import Signalling

@Suite("Commands as lines of the control socket")
struct ControlCommandTests {
    private typealias Change = ControlCommand.RateChange

    private static let commands: [(line: String, command: ControlCommand?)] = [
        ("pause", .pause), ("resume", .resume), ("mute", .mute), ("unmute", .unmute), ("mute mic", .muteMicrophone),
        ("unmute mic", .unmuteMicrophone), ("stop", .stop),
        ("status", .status),
        ("sharpen", .sharpen), ("rooms", .rooms), ("link", .link),
        ("remove 6b1c2b0e-1f0e-4b6e-9d0a-2f6c1a5b7c3d", .remove("6b1c2b0e-1f0e-4b6e-9d0a-2f6c1a5b7c3d")),
        ("present allow 6b1c", .present(.allow, "6b1c")), ("present decline a", .present(.decline, "a")),
        ("present allow a 600", .present(.allow, "a", seconds: 600)),
        ("present end publisher-1", .present(.end, "publisher-1")),
        ("pointing on", .pointing(true)), ("pointing off", .pointing(false)),
        ("chat on", .chat(true)), ("chat off", .chat(false)),
        ("lock", .lock(true, room: nil)), ("unlock attic", .lock(false, room: "attic")),
        ("admit 6b1c", .entry(.admit, "6b1c")), ("refuse 6b1c", .entry(.refuse, "6b1c")),
        ("admit all", .entry(.admit, nil)), ("refuse all", .entry(.refuse, nil)),
        ("push list", .push(.list)), ("push stop 1", .push(.stop(1))), ("push restart 64", .push(.restart(64))),
        ("push reload 2", .push(.reload(2, preset: nil))), ("push reload 3 low1", .push(.reload(3, preset: "low1"))),
        ("push add rtmp://a.example/app/key", .push(.add(url: "rtmp://a.example/app/key", preset: nil))),
        (
            "push add srt://a.example:9 high1,fps=30",
            .push(.add(url: "srt://a.example:9", preset: "high1,fps=30"))
        ),
        ("rate fps=10", rate(.atMost(10), nil)), ("rate bitrate=600000", rate(nil, .atMost(600_000))),
        ("rate fps=max bitrate=10000", rate(.unlimited, .atMost(10_000))),
        ("rate fps=120 bitrate=1000000000", rate(.atMost(120), .atMost(1_000_000_000))),
        ("rate fps=1 bitrate=max", rate(.atMost(1), .unlimited)),
    ]

    private static func rate(_ frames: Change.Limit?, _ bits: Change.Limit?) -> ControlCommand? {
        Change(framesPerSecond: frames, bitsPerSecond: bits).map { .rate($0) }
    }

    @Test("every command is read as it is written")
    func lines() {
        for (line, command) in Self.commands {
            #expect(ControlCommand(line: line) == command)
            #expect(command?.line == line)
            #expect(ControlCommand.usage.contains(line.prefix { $0 != " " }))
        }
    }

    @Test(
        "what is out of range, said twice or left out is no command",
        arguments: [
            "", " ", "rate", "rate ", "rate fps", "rate fps=", "rate fps=0", "rate fps=121", "rate fps=-1",
            "rate fps=+5",
            "rate fps=1 fps=2", "rate fps=10  bitrate=20000", "rate bitrate=9999", "rate bitrate=1000000001",
            "rate bitrate=99999999999999999999", "rate bitrate=4M", "rate fps=max fps=max", "rate size=3", "status xml",
            "status json", "pause now", "mute now", "unmute ", "Pause", "stop=", "sharpen 10", "rate =10",
            "rooms json", "link json", "remove", "remove ", "remove a b", "rate fps==1",
            "present", "present allow", "present allow ", "present pass a", "present end a b",
            "present allow a 0", "present allow a 31536001", "present allow a 10m", "present allow a 1 1",
            "present end a 600",
            "pointing", "pointing ", "pointing On", "pointing on off", "pointing true",
            "chat", "chat ", "chat On", "chat on off", "chat hello",
            "lock a b", "lock ", "unlock  a", "admit", "admit ", "admit a b", "refuse",
            "refuse a b",
            "push", "push list all", "push add", "push add a b c", "push add  a", "push stop", "push stop +1",
            "push stop 01",
            "push restart 0", "push restart x", "push reload", "push reload low1", "push reload 0 low1",
            "push reload 1 ", "push reload 1 low1 low2", "push add srt://h:1\tkey", "push add srt://h:1\u{85}",
            "push add srt://h:1 \u{308}key", "push reload 1 low1\u{1B}[2J", "push reload 1 low1\u{7F}",
        ])
    func refused(_ line: String) {
        #expect(ControlCommand(line: line) == nil)
    }

    @Test("a change changes at least one limit, each within its range")
    func ranges() {
        #expect(Change() == nil)
        for number in [Int.min, -1, 0, 121, Int.max] { #expect(Change(framesPerSecond: .atMost(number)) == nil) }
        for number in [Int.min, -1, 9999, 1_000_000_001, Int.max] {
            #expect(Change(bitsPerSecond: .atMost(number)) == nil)
            #expect(Change(framesPerSecond: .atMost(10), bitsPerSecond: .atMost(number)) == nil)
        }
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
}
