import MediaSessions
import MediaTypes
import RTP
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("Sessions by our offer")
struct OwnOfferTests {
    private let server: MediaServer
    private let hub: TrackHub
    private let source = RecordingSource()

    init() throws {
        server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0), sessionLimit: 2), log: .silent
        )
        hub = TrackHub(origin: now())
        hub.connect(source: source)
    }

    private var address: TransportAddress { TransportAddress(ipv4: 127, 0, 0, 1, port: server.port) }

    private func publish(_ unit: CodedFrame) -> CodedFrame {
        hub.publish(unit, epoch: 1, arrival: now())
        return unit
    }

    @Test(
        "who answers our offer gets pictures, whoever begins DTLS",
        arguments: [
            Answers.chromium, Answers.aiortc, Answers.firefox,
            Answers.aiortc.replacing("setup:active", with: "setup:passive"),
        ])
    func pictures(answer: String) throws {
        defer { server.stop() }
        let viewer = try SocketViewer(ofOfferBy: server, watching: hub, at: address, answer: answer)
        #expect(hub.viewers == 1)
        try viewer.connect()
        var last = publish(Pictures.idr(60_000, captured: now()))
        last = publish(Pictures.delta(4_000, seed: 1, captured: now()))
        try eventually("the pictures") {
            viewer.pump()
            return viewer.shows(last)
        }
        #expect(viewer.viewer.strangeDatagrams == 0)
        server.close(viewer.id)
        try eventually("the end") { viewer.end == "closed" }
        #expect(hub.viewers == 0 && source.watched == [false, true, false])
    }

    @Test("packets have the payload types of the answer")
    func payloadTypes() throws {
        defer { server.stop() }
        let answer = Answers.aiortc.replacing("106", with: "96").replacing("107", with: "97")
        let viewer = try SocketViewer(ofOfferBy: server, watching: hub, at: address, answer: answer)
        try viewer.connect()
        let first = publish(Pictures.idr(5_000, captured: now()))
        try eventually("the picture") {
            viewer.pump()
            return viewer.shows(first)
        }
        let types = Set(
            viewer.viewer.packets.filter { !$0.isRetransmission }.map { $0.rtp.header.payloadType.rawValue })
        #expect(types == [96])
    }

    @Test("a server is offered the level of what is shared now; a browser decodes all, and is offered what it lists")
    func level() throws {
        defer { server.stop() }
        _ = publish(Pictures.idr(5_000, captured: now(), level: 0x33))
        func levels(controlling: Bool) throws -> [Substring] {
            let offered = try server.offer(watching: WatchedSource(video: hub), controlling: controlling) { _ in }
            return offered.offer.matches(of: /profile-level-id=(\w+)/).map(\.output.1)
        }
        #expect(try levels(controlling: true) == ["42e033", "42e01f"])
        #expect(try levels(controlling: false) == ["42e01f", "f4001f"])
    }

    @Test("an offer isn't a viewer yet, but counts for the limit until it ends")
    func counting() throws {
        defer { server.stop() }
        let ends = Mutex<[String]>([])
        let first = try server.offer(watching: WatchedSource(video: hub)) { reason in
            ends.withLock { $0.append(reason) }
        }
        _ = try server.offer(watching: WatchedSource(video: hub)) { _ in }
        #expect(hub.viewers == 0 && source.watched == [false])
        let refusal = #expect(throws: MediaSessionError.self) {
            try server.offer(watching: WatchedSource(video: hub)) { _ in }
        }
        #expect(refusal.map { "\($0)" } == "the limit of 2 viewers is reached")
        server.close(first.id)
        try eventually("the end") { ends.withLock { $0 == ["closed"] } }
        #expect(throws: MediaSessionError.self) { try server.accept(answer: Answers.chromium, for: first.id) }
        _ = try server.offer(watching: WatchedSource(video: hub)) { _ in }
        #expect(ends.withLock { $0 } == ["closed"])
    }

    @Test(
        "an answer that can't be used ends the session without a further word",
        arguments: [
            ("m=video 9", "m=video 0", "the peer refused the video that was offered"),
            ("H264/90000", "VP9/90000", "the peer takes no H.264, only VP9"),
            ("a=setup:active", "a=setup:actpass", "a=setup:actpass can't be used here"),
            ("v=0", "v=1", "the description does not begin with v=0"),
        ])
    func refusals(part: String, replacement: String, reason: String) throws {
        let ends = Mutex<[String]>([])
        for _ in 0..<4 {
            let offered = try server.offer(watching: WatchedSource(video: hub)) { reason in
                ends.withLock { $0.append(reason) }
            }
            let refusal = #expect(throws: MediaSessionError.self) {
                try server.accept(answer: Answers.chromium.replacing(part, with: replacement), for: offered.id)
            }
            #expect(refusal.map { "\($0)" } == reason)
            #expect(throws: MediaSessionError.self) { try server.accept(answer: Answers.chromium, for: offered.id) }
        }
        server.stop()
        #expect(ends.withLock { $0.isEmpty })
        #expect(hub.viewers == 0 && source.watched == [false])
    }

    @Test("an answer that never comes ends the session, and its room is another's")
    func noAnswer() throws {
        defer { server.stop() }
        #expect(MediaServer.answerTimeout == .seconds(30))
        let first = try TimedOffer(of: server, watching: hub, within: .milliseconds(30))
        try eventually("the end") { first.ends == ["no answer came"] }
        #expect(throws: MediaSessionError.self) { try server.accept(answer: Answers.chromium, for: first.id) }
        // Who is held up comes too late with the answer: the next offer waits longer.
        var timeout = Interval.milliseconds(60)
        var answered = try TimedOffer(of: server, watching: hub, within: timeout)
        while (try? server.accept(answer: Answers.chromium, for: answered.id)) == nil {
            try eventually("the end of the one that was answered too late") { answered.ends == ["no answer came"] }
            timeout = timeout * 2
            try #require(timeout < .seconds(8))
            answered = try TimedOffer(of: server, watching: hub, within: timeout)
        }
        let last = try TimedOffer(of: server, watching: hub, within: timeout)
        try eventually("the end of the last") { last.ends == ["no answer came"] }
        #expect(throws: MediaSessionError.self) { try server.accept(answer: Answers.chromium, for: last.id) }
        // What is closed now ends after all that was due by then.
        let closed = try TimedOffer(of: server, watching: hub, within: .seconds(60))
        server.close(closed.id)
        try eventually("the end of the closed one") { closed.ends == ["closed"] }
        #expect(answered.ends.isEmpty)
        #expect(hub.viewers == 1, "who has answered waits for checks as ever")
    }

    /// An offer, and what is said of its end.
    private struct TimedOffer {
        let id: MediaSessionID
        var ends: [String] { reasons.all.withLock { $0 } }
        private let reasons: Reasons

        private final class Reasons: Sendable {
            let all = Mutex<[String]>([])
        }

        init(of server: MediaServer, watching hub: TrackHub, within timeout: Interval) throws {
            let reasons = Reasons()
            self.reasons = reasons
            id = try server.offer(watching: WatchedSource(video: hub), within: timeout) { reason in
                reasons.all.withLock { $0.append(reason) }
            }.id
        }
    }

    @Test("a second answer is refused, and the session goes on")
    func secondAnswer() throws {
        defer { server.stop() }
        let viewer = try SocketViewer(ofOfferBy: server, watching: hub, at: address)
        for answer in [Answers.chromium, "", Answers.firefox] {
            let refusal = #expect(throws: MediaSessionError.self) { try server.accept(answer: answer, for: viewer.id) }
            #expect(refusal.map { "\($0)" } == "this session waits for no answer")
        }
        try viewer.connect()
        let first = publish(Pictures.idr(5_000, captured: now()))
        try eventually("the picture") {
            viewer.pump()
            return viewer.shows(first)
        }
        #expect(viewer.end == nil)
    }

    @Test("a viewer that can't decode what the track is in is told so when it answers")
    func fullChroma() throws {
        defer { server.stop() }
        _ = publish(Pictures.idr(5_000, captured: now(), profile: 244))
        let offered = try server.offer(watching: WatchedSource(video: hub)) { _ in }
        let refusal = #expect(throws: MediaSessionError.self) {
            try server.accept(answer: Answers.firefox, for: offered.id)
        }
        #expect(refusal.map { "\($0)" } == ChromaPolicy.exclusion)
        #expect(hub.viewers == 0 && source.watched == [false])
        let viewer = try SocketViewer(ofOfferBy: server, watching: hub, at: address, answer: Answers.chromium)
        try viewer.connect()
        try eventually("the picture, under the payload type of 4:4:4") {
            viewer.pump()
            return viewer.viewer.packets.contains { $0.rtp.header.payloadType.rawValue == 108 }
        }
    }

    @Test("the end of the server ends what waits, and there are no offers after it")
    func stopping() throws {
        let ends = Mutex<[String]>([])
        let offered = try server.offer(watching: WatchedSource(video: hub)) { reason in
            ends.withLock { $0.append(reason) }
        }
        server.stop()
        #expect(ends.withLock { $0 } == ["the host is ending"])
        #expect(throws: MediaSessionError.self) { try server.accept(answer: Answers.chromium, for: offered.id) }
        #expect(throws: MediaSessionError.self) { try server.offer(watching: WatchedSource(video: hub)) { _ in } }
    }
}
