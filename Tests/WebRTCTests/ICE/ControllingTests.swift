import MediaSessions
import MediaTypes
import STUN
import SecureTransport
import TestSupport
import Testing

@testable import WebRTC

@Suite("Sessions in which the host chooses the path")
struct ControllingTests {
    /// The address of the rig's first peer.
    private let address = TransportAddress(ipv4: 192, 0, 2, 0, port: 50_000)

    private func peer(
        in rig: Rig, isDTLSClient: Bool = true, tieBreaker: UInt64 = .max, isKnown: Bool = true
    ) throws -> RigPeer {
        let peer = try rig.addPeer(
            isDTLSClient: isDTLSClient,
            candidates: isKnown ? [RemoteCandidate(address: address, priority: 100)] : [],
            iceRole: .controlling(tieBreaker: tieBreaker))
        peer.checksOn = false
        peer.viewer.isControlled = true
        return peer
    }

    private func expectPicture(_ rig: Rig, _ peer: RigPeer) {
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(50))
        #expect(peer.wholePictures.last == rig.published.last?.contents)
    }

    private func requests(of peer: RigPeer) -> [STUNMessage] {
        peer.link.sent.compactMap { try? STUNMessage(parsing: $0.datagram) }.filter { $0.messageClass == .request }
    }

    @Test(
        "a peer that is ICE-lite, only answers and checks nothing is found, nominated and kept, whoever begins DTLS",
        arguments: [true, false])
    func litePeer(isDTLSClient: Bool) throws {
        let rig = try Rig()
        let peer = try peer(in: rig, isDTLSClient: isDTLSClient)
        rig.run(for: .milliseconds(20))
        if !isDTLSClient { peer.viewer.startDTLS(now: rig.now) }
        rig.run(for: .milliseconds(200))
        try #require(peer.session.isConnected && peer.viewer.isConnected)
        expectPicture(rig, peer)
        let sent = requests(of: peer)
        #expect(sent.allSatisfy { $0.attributes.contains(.iceControlling(.max)) })
        #expect(sent.map(\.useCandidate) == [false, true], "a check, then the nomination")

        rig.run(for: .seconds(60))
        #expect(peer.session.end == nil)
        #expect(requests(of: peer).dropFirst(2).allSatisfy { $0.attributes.contains(.iceControlling(.max)) })
        expectPicture(rig, peer)
        peer.viewer.answersRequests = false
        rig.run(for: .seconds(50))
        #expect(peer.session.end != nil, "it no longer consents")
    }

    @Test("a full peer is answered, found at the address that its checks come from, and its nominations don't count")
    func fullPeer() throws {
        let rig = try Rig()
        let peer = try peer(in: rig, isKnown: false)
        rig.run(for: .seconds(1))
        #expect(peer.link.sent.isEmpty)
        peer.viewer.check(nominates: true)
        rig.run(for: .milliseconds(12))
        #expect(peer.viewer.replies.last?.messageClass == .success)
        #expect(!peer.session.isConnected)
        rig.run(for: .milliseconds(200))
        try #require(peer.session.isConnected && peer.viewer.isConnected)
        #expect(requests(of: peer).map(\.useCandidate) == [false, true])
        expectPicture(rig, peer)
    }

    @Test("every second request of the host's is lost, and it connects")
    func losses() throws {
        let rig = try Rig()
        let peer = try peer(in: rig)
        var count = 0
        peer.link.blocks = { datagram in
            guard datagram.kind == .stun else { return false }
            count += 1
            return count % 2 == 1
        }
        rig.run(for: .seconds(2))
        #expect(peer.session.isConnected && peer.viewer.isConnected)
        #expect(count >= 4)
        expectPicture(rig, peer)
    }

    @Test("a peer that never answers ends the session, after a bounded number of requests")
    func silence() throws {
        let rig = try Rig()
        let peer = try peer(in: rig)
        peer.viewer.answersRequests = false
        rig.run(for: .seconds(40))
        #expect(requests(of: peer).count == 7)
        #expect(peer.session.end == .other("no connectivity check from the peer within 30 s"))
    }

    // MARK: Role conflicts

    @Test("a peer that claims our role gets 487 if our tie-breaker is larger, and we go on")
    func keepsRole() throws {
        let rig = try Rig()
        let peer = try peer(in: rig)
        peer.viewer.isControlled = false
        peer.viewer.check()
        rig.run(for: .milliseconds(200))
        #expect(peer.viewer.replies.map { $0.errorCode?.code } == [487])
        #expect(peer.session.isConnected)
        #expect(requests(of: peer).map(\.useCandidate) == [false, true])
    }

    @Test("a peer that claims our role with a larger tie-breaker chooses the path from then on")
    func yieldsRole() throws {
        let rig = try Rig()
        let peer = try peer(in: rig, tieBreaker: 1)
        // The nomination is not made before the check comes.
        peer.viewer.answersRequests = false
        peer.viewer.isControlled = false
        peer.viewer.check()
        rig.run(for: .milliseconds(12))
        #expect(peer.viewer.replies.map(\.messageClass) == [.success])
        #expect(!peer.session.ice.isControlling)
        peer.viewer.answersRequests = true
        let before = requests(of: peer).count
        peer.viewer.check()
        rig.run(for: .seconds(1))
        try #require(peer.session.isConnected)
        #expect(requests(of: peer).dropFirst(before).allSatisfy { !$0.useCandidate })
        expectPicture(rig, peer)
    }

    @Test("487 from the peer makes us the controlled agent, once, and only if the peer has signed it")
    func conflictAnswer() throws {
        let rig = try Rig()
        let peer = try peer(in: rig)
        peer.viewer.answersRequests = false
        rig.run(for: .milliseconds(10))
        let request = try #require(requests(of: peer).first)
        func refusal(_ password: String) -> [UInt8] {
            STUNMessage.failure(.roleConflict, to: request, key: Array(password.utf8)) { key, data in
                Authentication.hmacSHA1(key: key, data: data)
            }
        }
        peer.deliver(refusal("a password of nobody"), now: rig.now)
        #expect(peer.session.ice.isControlling)
        peer.deliver(refusal(peer.viewer.settings.password), now: rig.now)
        #expect(!peer.session.ice.isControlling)
        peer.deliver(refusal(peer.viewer.settings.password), now: rig.now)
        #expect(!peer.session.ice.isControlling, "the same answer again says nothing about the new role")

        rig.run(for: .milliseconds(60))
        let next = try #require(requests(of: peer).last)
        #expect(next.transactionID != request.transactionID)
        let isControlled = next.attributes.contains {
            if case .iceControlled = $0 { true } else { false }
        }
        #expect(isControlled)
        peer.viewer.answersRequests = true
        peer.viewer.isControlled = false
        peer.viewer.check()
        rig.run(for: .seconds(1))
        #expect(peer.session.isConnected)
    }

    // MARK: The choice

    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func path(_ number: UInt8) -> NetworkPath {
        NetworkPath(
            peer: TransportAddress(ipv4: 192, 0, 2, number, port: 4000),
            local: TransportAddress(ipv4: 192, 0, 2, 200, port: 7000))
    }

    @Test("the best path that works within 300 ms is nominated, and the next best if it falls silent")
    func choice() {
        var nomination = Nomination(of: MediaSessionID(rawValue: 1))
        nomination.add(path(1), priority: 5, isBest: false, now: start)
        #expect(nomination.deadline == start + .milliseconds(300))
        nomination.add(path(2), priority: 9, isBest: false, now: start + .milliseconds(100))
        var now = start
        var nominated: [NetworkPath] = []
        while nomination.deadline < .distantFuture, nominated.count < 100 {
            now = max(now, nomination.deadline)
            if let due = nomination.takeDue(now: now) { nominated.append(due.path) }
        }
        #expect(nominated == Array(repeating: path(2), count: 4) + Array(repeating: path(1), count: 4))
        #expect(now - start > .seconds(7))
    }

    @Test("a path that nothing better can follow is nominated at once")
    func best() {
        var nomination = Nomination(of: MediaSessionID(rawValue: 1))
        nomination.add(path(1), priority: 5, isBest: true, now: start)
        let due = nomination.takeDue(now: start)
        #expect(due?.path == path(1))
    }

    @Test("a server that asks for key frames gets new ones, 2 s apart, and its viewers see no picture again")
    func keyFrames() throws {
        let rig = try Rig()
        let peer = try peer(in: rig)
        rig.run(for: .milliseconds(300))
        try #require(peer.session.isConnected && peer.viewer.isConnected)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.publish { Pictures.delta(800, seed: 1, captured: $0) }
        // One is asked for behind the second report, and at most one in 500 ms.
        rig.run(for: .milliseconds(900))
        let asked = rig.source.keyFrameRequests
        peer.viewer.requestKeyFrame()
        rig.run(for: .milliseconds(100))
        #expect(rig.source.keyFrameRequests == asked + 1)
        // One for each of its viewers, who keep coming.
        for _ in 0..<195 {
            rig.run(for: .milliseconds(100))
            peer.viewer.requestKeyFrame()
        }
        rig.run(for: .milliseconds(20))
        #expect(rig.source.keyFrameRequests == asked + 10)
        rig.publish { Pictures.idr(5_000, seed: 2, captured: $0) }
        rig.run(for: .milliseconds(500))
        #expect(peer.wholePictures == rig.published.map(\.contents))
    }
}
