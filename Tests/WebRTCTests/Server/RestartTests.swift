import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("ICE restart")
struct RestartTests {
    static let fragment =
        "a=ice-ufrag:new+\r\na=ice-pwd:a new password of the peer\r\nm=video 9 UDP/TLS/RTP/SAVPF 106\r\na=mid:0\r\n"

    /// A viewer that plays, and has asked for a restart.
    private func restarting() throws -> (rig: Rig, peer: RigPeer, old: TestViewer.Settings) {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .milliseconds(500))
        let old = peer.viewer.settings
        restart(peer)
        return (rig, peer, old)
    }

    private func restart(_ peer: RigPeer) {
        peer.session.ice.restart(
            with: ICEAgent(
                localUfrag: "anew", localPassword: "another password of the host", remoteUfrag: "peer2",
                remotePassword: "another password of the peer"))
    }

    /// The viewer's checks are of the new generation from now on.
    private func useNew(_ viewer: TestViewer) {
        viewer.settings.hostUfrag = "anew"
        viewer.settings.hostPassword = "another password of the host"
        viewer.settings.ufrag = "peer2"
        viewer.settings.password = "another password of the peer"
    }

    private func isAccepted(_ settings: TestViewer.Settings, by peer: RigPeer, _ rig: Rig) throws -> Bool {
        let request = CheckRequest(
            username: "\(settings.hostUfrag):\(settings.ufrag)", password: settings.hostPassword, nominates: false)
        return peer.session.handle(try STUNMessage(parsing: request.bytes), along: peer.path, now: rig.now)
    }

    @Test("old checks hold until one of the new ones nominates, and pictures go on all the while")
    func generations() throws {
        let (rig, peer, old) = try restarting()
        #expect(peer.session.ice.localUfrags == ["anew", "host0"])
        #expect(try isAccepted(old, by: peer, rig))
        rig.publish { Pictures.delta(4_000, seed: 1, captured: $0) }
        rig.run(for: .seconds(40))
        #expect(peer.session.end == nil, "old checks keep the session")

        useNew(peer.viewer)
        #expect(try isAccepted(peer.viewer.settings, by: peer, rig))
        #expect(try isAccepted(old, by: peer, rig), "nothing is nominated yet")
        peer.viewer.check(nominates: true)
        rig.run(for: .milliseconds(20))
        #expect(peer.session.ice.localUfrags == ["anew"])
        #expect(try !isAccepted(old, by: peer, rig))
        rig.publish { Pictures.delta(4_000, seed: 2, captured: $0) }
        rig.run(for: .seconds(40))
        #expect(peer.session.end == nil)
        #expect(peer.wholePictures == rig.published.map(\.contents))
        #expect(peer.viewer.strangeDatagrams == 0)
        let numbers = peer.mediaPackets.map { $0.rtp.header.sequenceNumber.rawValue }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 &+ 1 == $1 }, "one stream of packets")
    }

    @Test("pictures follow the new generation to another address, once that is nominated")
    func address() throws {
        let (rig, peer, _) = try restarting()
        useNew(peer.viewer)
        rig.move(peer)
        rig.run(for: .milliseconds(50))
        #expect(peer.link.media.last?.path == peer.path)
        #expect(peer.wholePictures == rig.published.map(\.contents))
    }

    @Test(
        "a viewer that is gone comes back by a restart, at its address or another one, and gets all from a key frame",
        arguments: [false, true])
    func gone(moves: Bool) throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.show(30)
        peer.isSilent = true
        rig.show(100)
        let sent = peer.link.sent.count
        restart(peer)
        rig.show(250)
        #expect(peer.link.sent.dropFirst(sent).allSatisfy { $0.kind == .stun }, "a restart alone is no return")

        let requests = rig.source.keyFrameRequests
        useNew(peer.viewer)
        peer.isSilent = false
        // From here on, it is heard only if the host's questions have the new credentials, and go to its address.
        peer.checksOn = false
        if moves { peer.path.peer = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321) }
        peer.viewer.check()
        rig.run(for: .milliseconds(50))
        #expect(rig.source.keyFrameRequests > requests && peer.session.ice.localUfrags == ["anew"])
        let before = peer.wholePictures.count
        rig.publish { Pictures.idr(20_000, seed: 2, captured: $0) }
        rig.show(80)
        #expect(peer.wholePictures.count == before + 81)
        #expect(peer.link.media.last?.path == peer.path)
    }

    @Test("a second restart takes the place of one that nothing came of")
    func twice() throws {
        let (rig, peer, old) = try restarting()
        let first = ICEAgent(localUfrag: "anew", localPassword: "", remoteUfrag: "", remotePassword: "")
        peer.session.ice.restart(
            with: ICEAgent(
                localUfrag: "third", localPassword: "a third password of the host", remoteUfrag: "peer3",
                remotePassword: "a third password of the peer"))
        #expect(peer.session.ice.localUfrags == ["third", "host0"])
        var settings = old
        settings.hostUfrag = first.localUfrag
        #expect(try !isAccepted(settings, by: peer, rig))
        #expect(try isAccepted(old, by: peer, rig))
    }

    @Test("a check must be wholly of one generation")
    func mixed() throws {
        let (rig, peer, old) = try restarting()
        useNew(peer.viewer)
        var settings = peer.viewer.settings
        settings.hostPassword = old.hostPassword
        #expect(try !isAccepted(settings, by: peer, rig))
        settings = peer.viewer.settings
        settings.ufrag = old.ufrag
        #expect(try !isAccepted(settings, by: peer, rig))
        settings = old
        settings.hostPassword = peer.viewer.settings.hostPassword
        #expect(try !isAccepted(settings, by: peer, rig))
    }

    @Test("over the server's socket a viewer moves to another port by a restart, and its old name is forgotten")
    func server() throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        let source = RecordingSource()
        hub.connect(source: source)
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
        let viewer = try SocketViewer(of: server, watching: hub, at: address)
        try viewer.connect()
        func expectPicture(_ unit: CodedFrame, _ what: String) throws {
            hub.publish(unit, epoch: 1, arrival: now())
            try eventually("the picture \(what)") {
                viewer.pump()
                return viewer.shows(unit)
            }
        }
        try expectPicture(Pictures.idr(50_000, captured: now()), "before")

        let old = viewer.viewer.settings
        let restarted = try server.restartICE(viewer.id, fragment: Self.fragment)
        #expect(restarted.fragment.contains("a=ice-ufrag:\(restarted.entityTag)\r\n"))
        #expect(restarted.fragment.contains("m=video 9 UDP/TLS/RTP/SAVPF 106\r\na=mid:0\r\n"))
        #expect(restarted.fragment.contains(" 127.0.0.1 \(server.port) typ host\r\n"))
        #expect(restarted.fragment.hasSuffix("a=end-of-candidates\r\n"))
        #expect(restarted.entityTag != old.hostUfrag)
        try expectPicture(Pictures.delta(3_000, seed: 1, captured: now()), "between")

        let password = try #require(
            restarted.fragment.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=ice-pwd:") })
        viewer.viewer.settings.hostUfrag = restarted.entityTag
        viewer.viewer.settings.hostPassword = String(password.dropFirst("a=ice-pwd:".count))
        viewer.viewer.settings.ufrag = "new+"
        viewer.viewer.settings.password = "a new password of the peer"
        let replies = viewer.viewer.replies.count
        try viewer.move()
        try eventually("an answer to the new check") {
            viewer.viewer.check()
            viewer.pump()
            return viewer.viewer.replies.count > replies
        }
        #expect(viewer.viewer.replies.last?.messageClass == .success)
        try expectPicture(Pictures.delta(3_000, seed: 2, captured: now()), "after")

        // Checks of the old generation find nobody any more.
        var late = CheckRequest(username: "\(old.hostUfrag):\(old.ufrag)", password: old.hostPassword)
        late.transaction = 4711
        viewer.send(late.bytes)
        let present = viewer.viewer.checkRequest()
        viewer.send(present.bytes)
        func isAnswered(_ request: CheckRequest) -> Bool {
            let number = withUnsafeBytes(of: request.transaction.bigEndian) { Array($0) }
            return viewer.viewer.replies.contains { Array($0.transactionID.bytes.suffix(8)) == number }
        }
        try eventually("an answer to the check behind it") {
            viewer.pump()
            return isAnswered(present)
        }
        #expect(!isAnswered(late))
        #expect(viewer.end == nil && viewer.viewer.strangeDatagrams == 0)
        #expect(hub.viewers == 1)
    }

    @Test("a restart that can't be is refused, and the old ICE goes on")
    func refusals() throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
        let viewer = try SocketViewer(of: server, watching: hub, at: address)
        let password = "a=ice-pwd:a new password of the peer\r\n"
        let bad = [
            "", "hello", "a=mid:0\r\n", "a=ice-ufrag:new+\r\n", password,
            Self.fragment.replacing("ufrag:new+", with: "ufrag:new"),
            Self.fragment.replacing("new+", with: Offers.chromiumUfrag),
        ]
        for fragment in bad {
            let refusal = #expect(throws: MediaSessionError.self) {
                try server.restartICE(viewer.id, fragment: fragment)
            }
            guard case .badOffer? = refusal else {
                Issue.record("\(String(describing: refusal)) for \(fragment)")
                continue
            }
        }
        #expect(throws: MediaSessionError.self) {
            try server.restartICE(MediaSessionID(rawValue: 4711), fragment: Self.fragment)
        }
        let offered = try server.offer(watching: WatchedSource(video: hub)) { _ in }
        #expect(throws: MediaSessionError.self) { try server.restartICE(offered.id, fragment: Self.fragment) }
        try viewer.connect()
        server.close(viewer.id)
        try eventually("the end") { viewer.end != nil }
        #expect(throws: MediaSessionError.self) { try server.restartICE(viewer.id, fragment: Self.fragment) }
    }
}
