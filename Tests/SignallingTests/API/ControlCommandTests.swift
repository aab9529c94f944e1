import TestSupport
import Testing

@testable import Signalling

@Suite("Commands as lines of the control socket")
struct ControlCommandTests {
    private typealias Change = ControlCommand.RateChange

    private static let commands: [(json: String, command: ControlCommand?)] = [
        (#"{"command":"status"}"#, .status), (#"{"command":"link"}"#, .link), (#"{"command":"rooms"}"#, .rooms()),
        (#"{"command":"rooms","room":"attic"}"#, .rooms(room: "attic")),
        (#"{"command":"pause"}"#, .pause), (#"{"command":"resume"}"#, .resume),
        (#"{"command":"mute"}"#, .mute), (#"{"command":"unmute"}"#, .unmute),
        (#"{"command":"mute-mic"}"#, .muteMicrophone), (#"{"command":"unmute-mic"}"#, .unmuteMicrophone),
        (#"{"command":"sharpen"}"#, .sharpen), (#"{"command":"stop"}"#, .stop),
        (#"{"command":"pointing-on"}"#, .pointing(true)), (#"{"command":"pointing-off"}"#, .pointing(false)),
        (#"{"command":"chat-on"}"#, .chat(true)), (#"{"command":"chat-off"}"#, .chat(false)),
        (#"{"command":"remove","id":"6b1c2b0e"}"#, .remove("6b1c2b0e")),
        (#"{"command":"remove","id":"a b","room":"demo"}"#, .remove("a b", room: "demo")),
        (#"{"command":"present","decision":"allow","id":"6b1c"}"#, .present(.allow, "6b1c")),
        (#"{"command":"present","decision":"decline","id":"a"}"#, .present(.decline, "a")),
        (
            #"{"command":"present","decision":"allow","id":"a","seconds":31536000}"#,
            .present(.allow, "a", seconds: 31_536_000)
        ),
        (#"{"command":"present","decision":"end","id":"a","room":"b"}"#, .present(.end, "a", room: "b")),
        (#"{"command":"lock"}"#, .lock(true, room: nil)),
        (#"{"command":"unlock","room":"attic"}"#, .lock(false, room: "attic")),
        (#"{"command":"admit","id":"6b1c"}"#, .entry(.admit, "6b1c")), (#"{"command":"admit"}"#, .entry(.admit, nil)),
        (#"{"command":"refuse","id":"c","room":"b"}"#, .entry(.refuse, "c", room: "b")),
        (#"{"command":"refuse"}"#, .entry(.refuse, nil)),
        (#"{"command":"push-list"}"#, .push(.list)), (#"{"command":"push-stop","id":1}"#, .push(.stop(1))),
        (#"{"command":"push-restart","id":64}"#, .push(.restart(64))),
        (#"{"command":"push-reload","id":2}"#, .push(.reload(2, preset: nil))),
        (#"{"command":"push-reload","id":3,"preset":"low1"}"#, .push(.reload(3, preset: "low1"))),
        (
            #"{"command":"push-add","url":"rtmp://a.example/app/key"}"#,
            .push(.add(url: "rtmp://a.example/app/key", preset: nil))
        ),
        (
            #"{"command":"push-add","preset":"high1,fps=30","url":"srt://a.example:9"}"#,
            .push(.add(url: "srt://a.example:9", preset: "high1,fps=30"))
        ),
        (#"{"command":"rate","fps":10}"#, rate(.atMost(10), nil)),
        (#"{"bitrate":600000,"command":"rate"}"#, rate(nil, .atMost(600_000))),
        (#"{"bitrate":10000,"command":"rate","fps":"max"}"#, rate(.unlimited, .atMost(10_000))),
        (#"{"bitrate":1000000000,"command":"rate","fps":120}"#, rate(.atMost(120), .atMost(1_000_000_000))),
        (#"{"bitrate":"max","command":"rate","fps":1}"#, rate(.atMost(1), .unlimited)),
    ]

    private static func rate(_ frames: Change.Limit?, _ bits: Change.Limit?) -> ControlCommand? {
        Change(framesPerSecond: frames, bitsPerSecond: bits).map { .rate($0) }
    }

    @Test("every command is read as it is written, and each row of the table has one")
    func lines() throws {
        for (json, command) in Self.commands {
            #expect(try ControlCommand(json: json) == command, "\(json)")
            #expect(command?.json == json)
        }
        let names = Self.commands.compactMap { $0.command?.row?.name }
        #expect(Set(names) == Set(ControlCommand.table.map(\.name)))
        #expect(Set(names).count == ControlCommand.table.count)
    }

    @Test("no log has the URL of a push, and every other command is in it as it came")
    func secrets() throws {
        for (json, command) in Self.commands {
            let logged = try #require(command).jsonWithoutSecrets
            #expect(json.contains("url") ? logged.contains(#""url":"...""#) && !logged.contains("//") : logged == json)
        }
    }

    @Test(
        "what is out of range, unknown or left out is no command, and the error says what would be one",
        arguments: [
            ("", "'command' is one of"), (" ", "'command' is one of"), ("status", "'command' is one of"),
            ("[]", "'command' is one of"), ("{}", "'command' is one of"), (#"{"command":3}"#, "'command' is one of"),
            (#"{"command":"Pause"}"#, "pause"), (#"{"command":"statusx"}"#, "'command' is one of"),
            (#"{"command":"pause","now":true}"#, "pause has no fields"),
            (#"{"command":"rate"}"#, "1 to 120"), (#"{"command":"rate","fps":0}"#, "1 to 120"),
            (#"{"command":"rate","fps":121}"#, "1 to 120"), (#"{"command":"rate","fps":1.5}"#, "1 to 120"),
            (#"{"command":"rate","fps":"10"}"#, "1 to 120"), (#"{"command":"rate","fps":true}"#, "1 to 120"),
            (#"{"command":"rate","fps":null}"#, "1 to 120"), (#"{"command":"rate","bitrate":9999}"#, "10000"),
            (#"{"command":"rate","bitrate":1000000001}"#, "10000"), (#"{"command":"rate","bitrate":1e99}"#, "10000"),
            (#"{"command":"rate","fps":1,"size":3}"#, "fps"),
            (#"{"command":"remove"}"#, "id (a text)"), (#"{"command":"remove","id":""}"#, "id (a text)"),
            (#"{"command":"remove","id":["a"]}"#, "id (a text)"),
            (#"{"command":"present","id":"a"}"#, "allow or decline or end"),
            (#"{"command":"present","decision":"pass","id":"a"}"#, "allow or decline or end"),
            (#"{"command":"present","decision":"allow","id":"a","seconds":0}"#, "31536000"),
            (#"{"command":"present","decision":"allow","id":"a","seconds":31536001}"#, "31536000"),
            (#"{"command":"present","decision":"end","id":"a","seconds":600}"#, "only with allow"),
            (#"{"command":"lock","room":""}"#, "room (a text)"), (#"{"command":"lock","room":null}"#, "room (a text)"),
            (#"{"command":"push-add"}"#, "url (a text without spaces)"),
            (#"{"command":"push-add","url":"srt://h:1\tkey"}"#, "url (a text without spaces)"),
            (#"{"command":"push-add","url":"srt://h:1 Sesam"}"#, "url (a text without spaces)"),
            (#"{"command":"push-add","url":"srt://h:1\u0085"}"#, "url (a text without spaces)"),
            (#"{"command":"push-reload","id":1,"preset":"low1\u001b[2J"}"#, "preset (a text without spaces)"),
            (#"{"command":"push-stop"}"#, "id (a whole number"), (#"{"command":"push-stop","id":0}"#, "from 1"),
            (#"{"command":"push-stop","id":"1"}"#, "from 1"), (#"{"command":"push-stop","id":1.5}"#, "from 1"),
        ])
    func refused(_ line: String, _ words: String) {
        let error = #expect(throws: CommandError.self) { try ControlCommand(json: line) }
        let text = error?.description ?? ""
        #expect(text.contains(words) && !text.contains("Sesam"), "\(text)")
        // It is not cut off on the socket.
        #expect(text.utf8.count <= ControlAnswer.textLimit)
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
        for (json, _) in Self.commands {
            for count in 0..<json.utf8.count { #expect((try? ControlCommand(json: String(json.prefix(count)))) == nil) }
            for _ in 0..<200 {
                let text = String(decoding: random.mutation(of: Array(json.utf8)), as: UTF8.self)
                guard let read = try? ControlCommand(json: text) else { continue }
                #expect((try? ControlCommand(json: read.json)) == read)
            }
        }
    }

    @Test("an answer is read as it is written, and a text for people is cut off between two characters")
    func answers() {
        for (json, answer) in [
            (#"{"done":"locked"}"#, .done("locked")), (#"{"done":"push 7","id":7}"#, .done("push 7", made: 7)),
            (#"{"error":"not now","reason":"notNow"}"#, .refused("not now")),
            (#"{"error":"a\nb\u001b","reason":"missing"}"#, .refused("a\nb\u{1B}", .missing)),
            (#"{"error":"no","reason":"invalid"}"#, .refused("no", .invalid)),
            (#"{"error":"no one","reason":"nothing"}"#, .refused("no one", .nothing)),
            (#"{"pushes":[]}"#, .document(#"{"pushes":[]}"#)),
        ] as [(String, ControlAnswer)] {
            #expect(answer.json == json)
            #expect(ControlAnswer(json: json) == answer)
        }
        for text in ["", "ok done", "[]", "3"] { #expect(ControlAnswer(json: text) == nil) }
        let long = ControlAnswer.done(String(repeating: "x", count: 511) + "é")
        #expect(ControlAnswer(json: long.json) == .done(String(repeating: "x", count: 511)))
        let whole = ControlAnswer.refused(String(repeating: "é", count: 256))
        #expect(ControlAnswer(json: whole.json) == whole)
    }
}
