import MediaSessions
import MediaTypes
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

/// Servers at sockets.
extension ControllingTests {
    @Test("a server is not offered 4:4:4, which it might accept unread, and a viewer is", arguments: [true, false])
    func chroma(controlling: Bool) throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        let offered = try server.offer(watching: WatchedSource(video: hub), controlling: controlling) { _ in }
        #expect(offered.offer.contains("profile-level-id=f4") != controlling)
    }

    @Test("a host on loopback refuses a server on another machine, but no viewer", arguments: [true, false])
    func elsewhere(controlling: Bool) throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        func accept(_ answer: String) throws {
            let offered = try server.offer(watching: WatchedSource(video: hub), controlling: controlling) { _ in }
            try server.accept(answer: answer, for: offered.id)
        }
        // For documents alone (RFC 5737): no machine has it.
        let elsewhere = Answers.aiortc.replacing("192.0.2.2", with: "203.0.113.7")
        if controlling {
            let refusal = #expect(throws: MediaSessionError.self) { try accept(elsewhere) }
            #expect(refusal?.description.contains("--lan") == true)
        } else {
            try accept(elsewhere)
        }
        for own in ["127.0.0.1"] + LocalAddresses.reachable(port: 0).map(\.host) {
            try accept(elsewhere.replacing("203.0.113.7 35869", with: "\(own) 35869"))
        }
        try accept(Answers.chromium)
    }

    @Test(
        "an ICE-lite server is sent pictures, whenever its candidates come and whichever end starts DTLS",
        arguments: [SocketViewer.Disclosure.beforeAnswer, .inAnswer, .afterAnswer], ["active", "passive"])
    func liteServer(disclosure: SocketViewer.Disclosure, setup: String) throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        hub.connect(source: RecordingSource())
        let answer = Answers.chromium.replacing("setup:active", with: "setup:\(setup)")
            .replacing("s=-\r\n", with: "s=-\r\na=ice-lite\r\n")
        let viewer = try SocketViewer(
            ofOfferBy: server, watching: hub, at: TransportAddress(ipv4: 127, 0, 0, 1, port: server.port),
            answer: answer, disclosure: disclosure)
        try viewer.connectAsLiteServer()
        let picture = Pictures.idr(60_000, captured: now())
        hub.publish(picture, epoch: 1, arrival: now())
        try eventually("the picture") {
            viewer.pump()
            return viewer.shows(picture)
        }
        #expect(viewer.viewer.strangeDatagrams == 0)
    }

    @Test("a second session at a server's only port ends at once, says why, and leaves the first one alone")
    func onePort() throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        hub.connect(source: RecordingSource())
        let answer = Answers.chromium.replacing("s=-\r\n", with: "s=-\r\na=ice-lite\r\n")
        let first = try SocketViewer(
            ofOfferBy: server, watching: hub, at: TransportAddress(ipv4: 127, 0, 0, 1, port: server.port),
            answer: answer, disclosure: .inAnswer)
        try first.connectAsLiteServer()
        let port = try #require((first.socket as? DatagramSocket)?.port)

        let reason = Mutex<String?>(nil)
        let second = try server.offer(watching: WatchedSource(video: hub), controlling: true) { end in
            reason.withLock { $0 = end }
        }
        try server.accept(
            answer: answer + "a=candidate:1 1 udp 2130706431 127.0.0.1 \(port) typ host\r\n", for: second.id)
        try eventually("its end", within: .seconds(5)) {
            first.pump()
            return reason.withLock { $0 != nil }
        }
        #expect(reason.withLock { $0 } == MediaLoop.addressesTaken)
        let picture = Pictures.idr(60_000, captured: now())
        hub.publish(picture, epoch: 1, arrival: now())
        try eventually("the picture") {
            first.pump()
            return first.shows(picture)
        }
        #expect(first.end == nil)
    }
}
