import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Pictures over the page's WebSocket")
struct FrameTests {
    private func picture(
        _ number: UInt32, _ bytes: [UInt8] = [0, 0, 0, 1, 0x65, 7], isKey: Bool = true, isDrawn: Bool = false,
        time: Int64 = 0x0102_0304_0506_0708, isShown: @escaping @Sendable () -> Bool = { true }
    ) -> WholePicture {
        WholePicture(
            number: number, isKeyPicture: isKey, isPointerDrawn: isDrawn, captureTime: time, bytes: bytes,
            isShown: isShown)
    }

    /// A page that gets pictures of the first track, and where they go in.
    private func begin(
        _ server: borrowing RunningServer, takesLittle: Bool = false
    ) throws -> (client: WebSocketClient, send: @Sendable (WholePicture) -> Void) {
        let client = try WebSocketClient(port: server.port, takesLittle: takesLittle)
        _ = try client.joinAsViewer("desk,secret")
        return (client, try begin(client, at: server.media, track: "screen"))
    }

    private func begin(
        _ client: WebSocketClient, at media: FakeMedia, track: String
    ) throws -> @Sendable (WholePicture) -> Void {
        let before = media.state.withLock { $0.sinks.count }
        try client.send(event: "__frames", "{\"track\":\"\(track)\"}")
        #expect(try nextEvent(client, "_frames")["track"] as? String == track)
        return try #require(media.state.withLock { $0.sinks[UInt64(before) + 1001] })
    }

    private func nextEvent(_ client: WebSocketClient, _ name: String) throws -> [String: Any] {
        try client.next(event: name)
    }

    /// The next binary message; a ping before it is answered.
    private func nextPicture(_ client: WebSocketClient) throws -> [UInt8] {
        while true {
            switch try client.next() {
            case .binary(let bytes): return bytes
            case .ping: try client.send("", opcode: 0xA)
            case let other: throw TestSocket.Failure(what: "\(other) instead of a picture")
            }
        }
    }

    @Test("a picture is one binary message: version, flags, number, capture time, access unit")
    func header() throws {
        let server = try RunningServer()
        let (client, send) = try begin(server)
        send(picture(1))
        #expect(
            try nextPicture(client)
                == [1, 1, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 0x65, 7])
        send(picture(0x0102_0304, [0, 0, 0, 1, 0x41], isKey: false, isDrawn: true, time: 5))
        #expect(
            try nextPicture(client) == [1, 2, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0x41])
        try eventually("the pong") { server.media.state.withLock { $0.reached.count } == 1 }
    }

    @Test("a confirmation in the page's form is read without decoding JSON, and any other text isn't")
    func confirmation() {
        func number(_ text: String) -> UInt32? {
            switch FrameReply(confirmation: text) {
            case .seen(let number), .heard(let number): number
            default: nil
            }
        }
        for name in ["__frames_seen", "__frames_heard"] {
            func text(_ number: String) -> String { "{\"eventName\":\"\(name)\",\"data\":{\"number\":\(number)}}" }
            #expect(number(text("7")) == 7)
            #expect(number(text("4294967295")) == .max)
            for other in ["", "-1", "+1", "4294967296", "1.0", "1,\"x\":2", "\"1\""] {
                #expect(number(text(other)) == nil, "\(other)")
            }
            // Those are decoded like all messages.
            #expect(number("{\"eventName\": \"\(name)\",\"data\":{\"number\":7}}") == nil)
        }
        #expect(number("{\"eventName\":\"__frames_sound\",\"data\":{\"number\":7}}") == nil)
    }

    @Test("confirmations, requests and the end reach the media layer; what was never sent, or twice, doesn't")
    func replies() throws {
        let server = try RunningServer()
        let (client, send) = try begin(server)
        for number in 1...3 as ClosedRange<UInt32> {
            send(picture(number))
            _ = try nextPicture(client)
        }
        for number in ["4", "2", "1", "2", "-1", "1e99", "\"x\"", "3"] {
            try client.send(event: "__frames_seen", "{\"number\":\(number)}")
        }
        try client.send(event: "__frames_key", "{}")
        try client.send(event: "__frames_stop", "{}")
        try eventually("the end") { server.media.state.withLock { !$0.closed.isEmpty } }
        server.media.state.withLock { state in
            #expect(state.confirmed == [2, 3])
            #expect(state.keyPictureRequests == 1)
            #expect(state.closed == [MediaSessionID(rawValue: 1001)])
        }
        // Nothing more comes, although the media layer doesn't know yet.
        send(picture(4))
        try client.send(event: "__clock", "{\"t\":1}")
        _ = try nextEvent(client, "_clock")
    }

    @Test("what still waits in the host can't be confirmed: more would come, and wait too")
    func premature() throws {
        let server = try RunningServer()
        let (client, send) = try begin(server, takesLittle: true)
        let large = [UInt8](repeating: 7, count: 1 << 20)
        for number in 1...20 as ClosedRange<UInt32> { send(picture(number, large)) }
        for number in 1...20 { try client.send(event: "__frames_seen", "{\"number\":\(number)}") }
        try client.send(event: "__frames_key", "{}")
        try eventually("the request") { server.media.state.withLock { $0.keyPictureRequests } == 1 }
        // What the kernel takes without a reader are a few pictures of that size.
        #expect(server.media.state.withLock { $0.confirmed.last ?? 0 } < 15)
    }

    @Test(
        "confirmations don't count towards the limit of messages, unless they confirm nothing",
        arguments: [true, false])
    func limit(_ confirmsNew: Bool) throws {
        let server = try RunningServer()
        let (client, send) = try begin(server)
        for number in 1...300 as ClosedRange<UInt32> { send(picture(number)) }
        for _ in 1...300 { _ = try nextPicture(client) }
        for number in 1...300 { try client.send(event: "__frames_seen", "{\"number\":\(confirmsNew ? number : 1)}") }
        guard confirmsNew else { return #expect(try client.next() == .close(1008)) }
        try client.send(event: "__clock", "{\"t\":1}")
        _ = try nextEvent(client, "_clock")
        #expect(server.media.state.withLock { $0.confirmed.count } == 300)
    }

    private func sound(
        _ bytes: [UInt8], time: Int64 = 5, isHeard: @escaping @Sendable () -> Bool = { true }
    ) -> WholeAudio {
        WholeAudio(captureTime: time, bytes: bytes, isHeard: isHeard)
    }

    @Test("sound comes when it is asked for, as binary messages with numbers of their own, in front of pictures")
    func sounds() throws {
        let server = try RunningServer { $0.limits.soundTime = .seconds(60) }
        let (client, send) = try begin(server)
        let play = try #require(server.media.state.withLock { $0.soundSinks[1001] })
        play(sound([0xFC, 1]))
        try server.server.waitUntilTaken()
        try client.send(event: "__frames_sound", "{\"on\":true}")
        try client.send(event: "__frames_sound", "{\"on\":true}")
        try client.send(event: "__frames_sound", "{}")
        try eventually("the request") { server.media.state.withLock { $0.wantsSound == [true] } ? () : nil }
        // The kernel takes some of the first, behind which all others wait.
        let large = [UInt8](repeating: 3, count: 8 << 20)
        send(picture(1, large))
        send(picture(2))
        play(sound([0xFC, 2], time: 7))
        play(sound([0xFC, 3], isHeard: { false }))
        play(sound([0xFC, 4]))
        try server.server.waitUntilTaken()
        #expect(try nextPicture(client).count == 16 + large.count)
        #expect(try nextPicture(client) == [1, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0xFC, 2])
        #expect(try nextPicture(client) == [1, 4, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5, 0xFC, 4])
        #expect(try nextPicture(client)[7] == 2)

        try client.send(event: "__frames_sound", "{\"on\":false}")
        try eventually("the end") { server.media.state.withLock { $0.wantsSound == [true, false] } ? () : nil }
        play(sound([0xFC, 5]))
        send(picture(3))
        #expect(try nextPicture(client)[7] == 3)
    }

    @Test("sound that has waited for too long is left out")
    func oldSound() throws {
        let server = try RunningServer { $0.limits.soundTime = .milliseconds(1) }
        let (client, send) = try begin(server)
        let play = try #require(server.media.state.withLock { $0.soundSinks[1001] })
        try client.send(event: "__frames_sound", "{\"on\":true}")
        try eventually("the request") { server.media.state.withLock { $0.wantsSound == [true] } ? () : nil }
        send(picture(1, [UInt8](repeating: 3, count: 8 << 20)))
        play(sound([0xFC, 1]))
        send(picture(2))
        try server.server.waitUntilTaken()
        #expect(try nextPicture(client).count == 16 + (8 << 20))
        #expect(try nextPicture(client)[1] == 1)
    }

    @Test("confirmations of sound don't count towards the limit of messages")
    func heard() throws {
        let server = try RunningServer()
        let (client, _) = try begin(server)
        let play = try #require(server.media.state.withLock { $0.soundSinks[1001] })
        try client.send(event: "__frames_sound", "{\"on\":true}")
        try eventually("the request") { server.media.state.withLock { $0.wantsSound == [true] } ? () : nil }
        for number in 1...300 as ClosedRange<UInt32> {
            play(sound([0xFC, 1]))
            #expect(try nextPicture(client)[4..<8] == [0, 0, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
            try client.send(event: "__frames_heard", "{\"number\":\(number)}")
        }
        try client.send(event: "__clock", "{\"t\":1}")
        _ = try nextEvent(client, "_clock")
    }

    @Test("there is one stream on a WebSocket: another track's takes its place, and so does an offer for the same")
    func oneStream() throws {
        let server = try RunningServer()
        let (client, first) = try begin(server)
        let second = try server.addSecondTrack()
        _ = try nextEvent(client, "_tracks")
        let other = try begin(client, at: second, track: "desk2")
        #expect(server.media.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1001)])
        first(picture(1))
        other(picture(1, [0, 0, 0, 1, 0x65, 9]))
        #expect(try nextPicture(client).last == 9)

        try client.send(offer: "v=0", to: "", track: "desk2")
        _ = try nextEvent(client, "_answer")
        #expect(second.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1001)])
    }

    @Test("who isn't let in gets nothing, and who can't be served hears why, as for an offer")
    func refused() throws {
        let server = try RunningServer()
        let stranger = try WebSocketClient(port: server.port)
        try stranger.send(event: "__frames", "{}")
        let client = try WebSocketClient(port: server.port)
        _ = try client.joinAsViewer("desk,secret")
        #expect(server.media.state.withLock { $0.sinks.isEmpty })
        server.media.state.withLock { $0.refusal = .unsupported("only in 4:4:4") }
        try client.send(event: "__frames", "{}")
        #expect(try nextEvent(client, "_refused")["reason"] as? String == "only in 4:4:4")
        server.media.state.withLock { $0.refusal = nil }
        try client.send(event: "__frames", "{\"track\":\"none\"}")
        #expect(try nextEvent(client, "_refused")["reason"] as? String == "this room has no track of that name")
        _ = try begin(client, at: server.media, track: "screen")
        server.media.end(1001, "the viewer has confirmed no picture for 10 s")
        let ended = try nextEvent(client, "_session_ended")
        #expect(ended["reason"] as? String == "the viewer has confirmed no picture for 10 s")
    }

    @Test("pictures that wait may be large, go behind messages, and are left out once hidden")
    func waiting() throws {
        let looks = Looks()
        let server = try RunningServer {
            $0.limits.unread = 64 * 1024
            $0.clock = {
                looks.count.withLock {
                    $0 += 1
                    return Int64($0)
                }
            }
        }
        let (client, send) = try begin(server)
        let shown = Shown()
        // The kernel takes some of the first; the rest, and all others, wait.
        send(picture(1, [UInt8](repeating: 3, count: 8 << 20)))
        send(picture(2, isShown: { shown.isShown.withLock { $0 } }))
        send(picture(3, [0, 0, 0, 1, 0x65, 3]))
        try server.server.waitUntilTaken()
        let before = looks.count.withLock { $0 }
        try client.send(event: "__clock", "{\"t\":1}")
        // The host looks at its clock when the question comes, and when it answers.
        try eventually("the answer") { looks.count.withLock { $0 } >= before + 2 ? () : nil }
        shown.isShown.withLock { $0 = false }
        #expect(try nextPicture(client).count == 16 + (8 << 20))
        _ = try nextEvent(client, "_clock")
        #expect(try nextPicture(client)[7] == 3)
    }

    private final class Looks: Sendable {
        let count = Mutex(0)
    }

    private final class Shown: Sendable {
        let isShown = Mutex(true)
    }
}
