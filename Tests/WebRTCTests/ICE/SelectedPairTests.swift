import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("Where media goes")
struct SelectedPairTests {
    private let hub = TrackHub(origin: now())

    private func makeServer() throws -> (server: MediaServer, address: TransportAddress) {
        hub.connect(source: RecordingSource())
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        return (server, TransportAddress(ipv4: 127, 0, 0, 1, port: server.port))
    }

    private func expectPicture(_ unit: CodedFrame, at viewer: SocketViewer) throws {
        hub.publish(unit, epoch: 1, arrival: now())
        try eventually("the picture") {
            viewer.pump()
            return viewer.shows(unit)
        }
    }

    @Test(
        "a copy of a viewer's check brings not one byte of media to the address that it was sent from, and the viewer goes on"
    )
    func forgedCheck() throws {
        let (server, address) = try makeServer()
        defer { server.stop() }
        let viewer = try SocketViewer(of: server, watching: hub, at: address)
        try viewer.connect()
        try expectPicture(Pictures.idr(50_000, captured: now()), at: viewer)

        let victim = try UDPSocket(bindingTo: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        let way = NetworkPath(peer: address, local: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        var buffer = [UInt8](repeating: 0, count: 2048)
        var kinds: [DatagramKind] = []
        var requests = 0
        func readVictim() {
            while let received = victim.receive(into: &buffer) {
                let datagram = Array(buffer.prefix(received.count))
                kinds.append(DatagramKind(of: datagram))
                if (try? STUNMessage(parsing: datagram))?.messageClass == .request { requests += 1 }
            }
        }
        for round in 1...10 {
            _ = victim.send(viewer.viewer.checkRequest().bytes, along: way)
            try eventually("an answer to the copy") {
                readVictim()
                return kinds.count >= round
            }
            try expectPicture(Pictures.delta(5_000, seed: UInt64(round), captured: now()), at: viewer)
        }
        try eventually("a request to the victim") {
            readVictim()
            return requests > 0
        }
        #expect(kinds.allSatisfy { $0 == .stun })
        #expect(viewer.viewer.pictures.count == 11)
        #expect(viewer.end == nil && viewer.viewer.strangeDatagrams == 0)
    }

    @Test("a viewer that moves gets its pictures at the new address once it has answered there")
    func moves() throws {
        let (server, address) = try makeServer()
        defer { server.stop() }
        let viewer = try SocketViewer(of: server, watching: hub, at: address)
        try viewer.connect()
        try expectPicture(Pictures.idr(50_000, captured: now()), at: viewer)

        try viewer.move()
        viewer.viewer.answersRequests = false
        viewer.viewer.check()
        let asked = viewer.viewer.hostRequests
        try eventually("a request of the host's") {
            viewer.pump()
            return viewer.viewer.hostRequests > asked
        }
        let before = viewer.viewer.packets.count
        let missed = Pictures.delta(5_000, seed: 1, captured: now())
        hub.publish(missed, epoch: 1, arrival: now())
        // The host has handled what came before this answer.
        let replies = viewer.viewer.replies.count
        viewer.viewer.check(nominates: false)
        try eventually("an answer to a check") {
            viewer.pump()
            return viewer.viewer.replies.count > replies
        }
        #expect(viewer.viewer.packets.count == before)

        viewer.viewer.answersRequests = true
        try eventually("the way") {
            viewer.viewer.check()
            viewer.pump()
            return viewer.viewer.packets.count > before || viewer.viewer.hostRequests > asked + 1
        }
        try expectPicture(Pictures.delta(5_000, seed: 2, captured: now()), at: viewer)
    }

    @Test("the first path costs no round trip of its own: a peer that answers no requests is known by its handshake")
    func firstPath() throws {
        let (server, address) = try makeServer()
        defer { server.stop() }
        let viewer = try SocketViewer(of: server, watching: hub, at: address)
        viewer.viewer.answersRequests = false
        try viewer.connect()
        try expectPicture(Pictures.idr(50_000, captured: now()), at: viewer)
    }

    @Test(
        "a viewer that comes from elsewhere than its offer is asked first, and gets the handshake when it has answered")
    func otherAddress() throws {
        let (server, address) = try makeServer()
        defer { server.stop() }
        let viewer = try SocketViewer(of: server, from: "192.0.2.7", watching: hub, at: address)
        viewer.viewer.answersRequests = false
        viewer.viewer.check()
        try eventually("a request of the host's") {
            viewer.pump()
            return viewer.viewer.hostRequests > 0 && !viewer.viewer.replies.isEmpty
        }
        #expect(viewer.receivedDatagrams == viewer.viewer.hostRequests + viewer.viewer.replies.count, "no handshake")
        viewer.viewer.answersRequests = true
        try viewer.connect()
        try expectPicture(Pictures.idr(50_000, captured: now()), at: viewer)
    }

    @Test(
        "a viewer gets its address though another session's checks are written for it all the while",
        arguments: [nil, "192.0.2.7"])
    func blockedAddress(intruderFrom: String?) throws {
        let (server, address) = try makeServer()
        defer { server.stop() }
        let viewer = try SocketViewer(
            of: server, from: intruderFrom == nil ? nil : "127.0.0.1", watching: hub, at: address)
        let intruder = try SocketViewer(of: server, from: intruderFrom, watching: hub, at: address)
        // As if the intruder had written the viewer's address into them.
        func forge() { viewer.send(intruder.viewer.checkRequest().bytes) }
        forge()
        var nextCheck = now()
        try eventually("a connection") {
            if now() >= nextCheck, !viewer.viewer.isConnected {
                viewer.viewer.check()
                forge()
                nextCheck = now() + .milliseconds(100)
            }
            viewer.pump()
            return viewer.viewer.isConnected
        }
        for _ in 0..<20 { forge() }
        try expectPicture(Pictures.idr(50_000, captured: now()), at: viewer)
        #expect(viewer.end == nil)
    }

    @Test("media ends 30 s after the last answer, though reports go on, and the session soon after")
    func lostConsent() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(40))
        #expect(peer.session.end == nil)
        #expect((5...12).contains(peer.viewer.hostRequests), "\(peer.viewer.hostRequests) requests")
        peer.viewer.answersRequests = false
        func publish() { rig.publish { Pictures.delta(500, seed: 1, captured: $0) } }
        rig.run(for: .seconds(20))
        publish()
        rig.run(for: .milliseconds(20))
        let sent = peer.link.media.count
        #expect(peer.link.media.last.map { rig.now - $0.time < .milliseconds(50) } == true)
        rig.run(for: .seconds(10))
        publish()
        rig.run(for: .milliseconds(20))
        #expect(peer.link.media.count <= sent + 2, "nothing but a probe of before")
        #expect(peer.session.end == nil)
        rig.run(for: .seconds(10))
        #expect(peer.session.end == .other("no answer to consent checks for 40 s"))
    }

    @Test("who is silent for half a minute less than too long comes back at another address by one answer")
    func returns() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(1))
        peer.isSilent = true
        rig.run(for: .seconds(27))
        peer.isSilent = false
        peer.path.peer = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        peer.viewer.check()
        rig.run(for: .milliseconds(40))
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(40))
        #expect(peer.link.media.last?.path == peer.path)
        #expect(peer.wholePictures.last == rig.published.last?.contents)
        rig.run(for: .seconds(60))
        #expect(peer.session.end == nil)
    }

    @Test("a publisher that answers no requests, like FFmpeg, is heard and told for as long as it sends")
    func publisher() throws {
        let rig = try PublishingRig()
        for second in 0..<60 {
            rig.publish { second == 0 ? Pictures.idr(5_000, captured: $0) : Pictures.delta(500, seed: 1, captured: $0) }
            rig.run(for: .seconds(1))
        }
        #expect(rig.session.end == nil)
        #expect(rig.collector.contents == rig.published.map(\.contents))
        let reports = rig.publisher.feedback.count {
            if case .receiverReport = $0 { return true }
            return false
        }
        #expect(reports >= 50)
    }
}
