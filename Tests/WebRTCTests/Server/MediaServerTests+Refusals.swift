import Glibc
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

/// What the server refuses or ignores.
extension MediaServerTests {
    @Test("an occupied port is an error that says so")
    func occupiedPort() throws {
        let first = try makeServer()
        defer { first.stop() }
        let configuration = MediaServerConfiguration(bind: address(of: first))
        let error = try #require(throws: WebRTCError.self) { try MediaServer(configuration, log: .silent) }
        guard case .cannotBind(let address, let number, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(address.port == first.port)
        #expect(number == EADDRINUSE)
        #expect(error.description.contains("\(first.port)"))
    }

    @Test("offers that can't be used and viewers beyond the limit are refused without a trace")
    func refusals() throws {
        let server = try makeServer(limit: 1)
        defer { server.stop() }
        let (hub, source) = makeHub()
        for offer in ["", "v=0\r\n", "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n"] {
            #expect(throws: MediaSessionError.self) {
                try server.open(offer: offer, watching: WatchedSource(video: hub)) { _ in }
            }
        }
        #expect(hub.viewers == 0 && source.watched == [false])
        let viewer = try SocketViewer(of: server, watching: hub, at: address(of: server))
        let refusal = try #require(throws: MediaSessionError.self) {
            try SocketViewer(of: server, watching: hub, at: address(of: server))
        }
        #expect("\(refusal)" == "the limit of 1 viewers is reached")
        #expect(hub.viewers == 1)
        server.close(viewer.id)
        try eventually("room for another") { viewer.end != nil }
        _ = try SocketViewer(of: server, watching: hub, at: address(of: server))
    }

    @Test("a host that is short of something refuses each kind of session without a trace, and keeps those it has")
    func shortage() throws {
        let shortage = Shortage()
        var configuration = MediaServerConfiguration(bind: loopback)
        configuration.sessionRefusal = { shortage.reason.withLock { $0 } }
        let server = try MediaServer(configuration, log: .silent)
        defer { server.stop() }
        let (hub, _) = makeHub()
        let source = WatchedSource(video: hub)
        let viewer = try SocketViewer(of: server, watching: hub, at: address(of: server))
        shortage.reason.withLock { $0 = "no memory" }
        #expect(throws: MediaSessionError.full("no memory")) {
            _ = try SocketViewer(of: server, watching: hub, at: address(of: server))
        }
        #expect(throws: MediaSessionError.full("no memory")) {
            _ = try server.openFrames(
                of: source, for: "192.0.2.1", sink: { _ in }, soundSink: { _ in }, onEnd: { _ in })
        }
        #expect(throws: MediaSessionError.full("no memory")) { _ = try server.offer(watching: source) { _ in } }
        #expect(hub.viewers == 1)
        try viewer.connect()
        let frame = publish(Pictures.idr(8_000, captured: now()), on: hub)
        try eventually("the frame at the viewer who was there") {
            viewer.pump()
            return viewer.shows(frame)
        }
        shortage.reason.withLock { $0 = nil }
        _ = try SocketViewer(of: server, watching: hub, at: address(of: server))
    }

    private final class Shortage: Sendable {
        let reason = Mutex<String?>(nil)
    }

    @Test("of too many sessions that aren't connected, the oldest ends; connected ones and those with servers stay")
    func halfOpen() throws {
        var configuration = MediaServerConfiguration(bind: loopback)
        configuration.threadCount = 1
        configuration.halfOpenLimits = SessionTable.HalfOpenLimits(count: 2, time: .zero)
        let server = try MediaServer(configuration, log: .silent)
        defer { server.stop() }
        let (hub, _) = makeHub()
        func join() throws -> SocketViewer { try SocketViewer(of: server, watching: hub, at: address(of: server)) }
        let viewer = try join()
        try viewer.connect()
        let pushed = try SocketViewer(
            ofOfferBy: server, watching: hub, at: address(of: server), disclosure: .inAnswer)
        let strangers = try (0..<3).map { _ in try join() }
        try eventually("the end of the oldest one") { strangers[0].end != nil }
        #expect(strangers[0].end == MediaLoop.superfluous)
        // They keep no viewer out.
        let next = try join()
        try next.connect()
        #expect(strangers[1].end == MediaLoop.superfluous && strangers[2].end == nil)
        #expect(viewer.end == nil && pushed.end == nil && next.end == nil)
        #expect(hub.viewers == 4)
    }

    @Test("viewers that join at once all get the time to connect, even if they are too many")
    func crowd() throws {
        var configuration = MediaServerConfiguration(bind: loopback)
        configuration.threadCount = 1
        configuration.halfOpenLimits = SessionTable.HalfOpenLimits(count: 2, time: .seconds(600))
        let server = try MediaServer(configuration, log: .silent)
        defer { server.stop() }
        let (hub, _) = makeHub()
        let viewers = try (0..<5).map { _ in try SocketViewer(of: server, watching: hub, at: address(of: server)) }
        for viewer in viewers { try viewer.connect() }
        #expect(viewers.allSatisfy { $0.end == nil } && hub.viewers == 5)
    }

    @Test("a check for an unknown name gets no answer, and garbage disturbs nobody")
    func garbage() throws {
        let server = try makeServer()
        defer { server.stop() }
        let (hub, _) = makeHub()
        let viewer = try SocketViewer(of: server, watching: hub, at: address(of: server))
        let stranger = try SocketViewer(of: server, watching: hub, at: address(of: server))
        try viewer.connect()
        stranger.send(CheckRequest(username: "nobody:Qm3+", password: "0123456789012345678901").bytes)
        var random = SeededRandom(seed: 11)
        for index in 0..<200 {
            var datagram = (0..<Int.random(in: 0...1500, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            // Each kind of first byte, or any.
            if index % 5 < 3, datagram.count > 1 { datagram[0] = [0, 22, 128][index % 5] }
            (index.isMultiple(of: 2) ? viewer : stranger).send(datagram)
        }
        let last = publish(Pictures.idr(50_000, captured: now()), on: hub)
        try eventually("the picture") {
            viewer.pump()
            return viewer.shows(last)
        }
        #expect(viewer.end == nil)
        stranger.pump()
        #expect(stranger.receivedDatagrams == 0)
    }

    @Test("DTLS, RTCP and RTP from an address that no check has proved are ignored")
    func unprovedAddress() throws {
        let server = try makeServer()
        defer { server.stop() }
        let (hub, source) = makeHub()
        let viewer = try SocketViewer(of: server, watching: hub, at: address(of: server))
        let stranger = try SocketViewer(of: server, watching: hub, at: address(of: server))
        // A handshake without a check before it.
        stranger.viewer.startDTLS(now: now())
        stranger.pump()
        try viewer.connect()
        let first = publish(Pictures.idr(50_000, captured: now()), on: hub)
        try eventually("the picture") {
            viewer.pump()
            return viewer.shows(first)
        }
        // Genuine requests and a genuine goodbye of the viewer's, from another's address.
        let asked = source.keyFrameRequests
        let request = RTCPPacket.pictureLossIndication(
            PictureLossIndication(sender: SSRC(1), media: viewer.viewer.settings.media))
        for _ in 0..<5 { stranger.send(try #require(viewer.viewer.protected([request]))) }
        viewer.viewer.close()
        for datagram in viewer.viewer.takeOutgoing() { stranger.send(datagram) }
        let last = publish(Pictures.delta(500, seed: 2, captured: now()), on: hub)
        try eventually("the next picture") {
            viewer.pump()
            return viewer.shows(last)
        }
        #expect(viewer.viewer.pictures.count == 2, "the stranger's request was not served")
        #expect(viewer.end == nil)
        stranger.pump()
        #expect(stranger.receivedDatagrams == 0)
        #expect(source.keyFrameRequests == asked)
    }
}
