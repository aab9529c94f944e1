import MediaSessions
import MediaTypes
import SDP
import STUN
import Testing

@testable import WebRTC

@Suite("The host's checks of candidates")
struct CheckListTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func candidate(_ number: UInt8, priority: UInt32 = 1) -> RemoteCandidate {
        RemoteCandidate(address: TransportAddress(ipv4: 198, 51, 100, number, port: 4000), priority: priority)
    }

    /// What is sent until nothing is due any more.
    private func run(
        _ checks: inout CheckList, from start: MonotonicTime
    ) -> [(time: MonotonicTime, peer: TransportAddress)] {
        var sent: [(time: MonotonicTime, peer: TransportAddress)] = []
        var now = start
        while checks.deadline < .distantFuture, sent.count < 10_000 {
            now = max(now, checks.deadline)
            guard let due = checks.takeDue(now: now) else {
                Issue.record("a deadline at which nothing is due")
                break
            }
            sent.append((now, due.peer))
        }
        return sent
    }

    @Test("sixteen candidates are tried seven times each in about 10 s, 50 ms apart, and further ones never")
    func bounds() throws {
        var checks = CheckList(of: MediaSessionID(rawValue: 1))
        checks.add((1...40).map { candidate($0) }, now: start)
        let sent = run(&checks, from: start)
        #expect(sent.count == 16 * 7)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1.time - $0.time >= .milliseconds(50) })
        let counts = Dictionary(grouping: sent) { $0.peer }.mapValues(\.count)
        #expect(counts.count == 16 && counts.values.allSatisfy { $0 == 7 })
        let last = try #require(sent.last)
        #expect(last.time - start > .seconds(9) && last.time - start < .seconds(16))
    }

    @Test("a session that restarts ICE again and again sends to 64 addresses in all")
    func life() {
        var checks = CheckList(of: MediaSessionID(rawValue: 1))
        var peers: Set<TransportAddress> = []
        var now = start
        for generation in 0..<10 {
            checks.add((0..<16).map { candidate(UInt8(generation * 16 + $0)) }, now: now)
            let sent = run(&checks, from: now)
            peers.formUnion(sent.map(\.peer))
            now = sent.last?.time ?? now
            checks.restart()
        }
        #expect(peers.count == 64)
    }

    @Test("the sessions of all viewers together send 500 requests in a second")
    func limiter() throws {
        var limiter = CheckRateLimiter()
        var counts: [Int] = []
        for second in Int64(0)..<4 {
            var count = 0
            for number in Int64(0)..<4000 {
                if limiter.take(now: start + .seconds(second) + .microseconds(250 * number)) { count += 1 }
            }
            counts.append(count)
        }
        // In the first second, what may be sent at once comes on top.
        #expect(counts[0] > 900 && counts[0] <= 1000)
        #expect(counts.dropFirst().allSatisfy { (499...501).contains($0) })

        let rig = try Rig()
        let viewer = try rig.addPeer(candidates: [candidate(1)])
        let chosen = try rig.addPeer(candidates: [candidate(2)], iceRole: .controlling(tieBreaker: 1))
        for peer in [viewer, chosen] { peer.link.admitsChecks = false }
        rig.run(for: .seconds(1))
        #expect(viewer.link.sent.isEmpty && !chosen.link.sent.isEmpty)
    }

    @Test("what the peer prefers is tried first, and nothing twice")
    func order() {
        var checks = CheckList(of: MediaSessionID(rawValue: 1))
        checks.add([candidate(1, priority: 5), candidate(2, priority: 9), candidate(1, priority: 7)], now: start)
        let sent = run(&checks, from: start)
        #expect(sent.prefix(2).map(\.peer) == [candidate(2).address, candidate(1).address])
        #expect(sent.count == 14)
    }

    @Test(
        "only UDP ports of single machines are candidates",
        arguments: [
            ("1 1 udp 5 192.0.2.1 4000 typ host", true), ("1 1 UDP 5 10.0.0.1 4000 typ srflx", true),
            ("1 1 udp 5 2001:db8::1 4000 typ relay raddr :: rport 0", true), ("1 1 udp 5 fd00::1 1 typ host", true),
            ("1 1 udp 5 ::ffff:192.0.2.1 4000 typ host", true), ("1 1 tcp 5 192.0.2.1 9 typ host", false),
            ("1 2 udp 5 192.0.2.1 4000 typ host", false), ("1 1 udp 5 192.0.2.1 0 typ host", false),
            ("1 1 udp 5 5d0c9a5e.local 4000 typ host", false), ("1 1 udp 5 example.org 4000 typ host", false),
            ("1 1 udp 5 224.0.0.251 5353 typ host", false), ("1 1 udp 5 255.255.255.255 4000 typ host", false),
            ("1 1 udp 5 0.0.0.0 4000 typ host", false), ("1 1 udp 5 169.254.1.1 4000 typ host", false),
            ("1 1 udp 5 ff02::1 4000 typ host", false), ("1 1 udp 5 fe80::1 4000 typ host", false),
            ("1 1 udp 5 ::ffff:224.0.0.1 4000 typ host", false), ("1 1 udp 5 :: 4000 typ host", false),
            ("1 1 udp 5 240.0.0.1 4000 typ host", false),
        ])
    func addresses(text: String, isChecked: Bool) throws {
        let candidate = try #require(Candidate(parsing: "candidate:" + text))
        #expect((RemoteCandidate(candidate) != nil) == isChecked)
    }

    @Test("this machine is checked for a peer that the user chose, and for nobody else")
    func loopback() throws {
        let rig = try Rig()
        let own = RemoteCandidate(address: TransportAddress(ipv4: 127, 0, 0, 1, port: 4000), priority: 1)
        let stranger = try rig.addPeer(candidates: [own])
        let chosen = try rig.addPeer(candidates: [own], iceRole: .controlling(tieBreaker: 1))
        rig.run(for: .seconds(1))
        #expect(stranger.link.sent.isEmpty)
        #expect(!chosen.link.sent.isEmpty)
    }

    // MARK: A NAT in front of the host

    /// Whether a viewer connects whose packets reach the host only after the host has sent some to `address`.
    private func connects(candidates: [RemoteCandidate]) throws -> Bool {
        let rig = try Rig()
        let address = candidate(1).address
        let peer = try rig.addPeer(candidates: candidates)
        peer.path.peer = address
        let link = peer.link
        peer.losesToHost = { _ in !link.sent.contains { $0.path.peer == address } }
        peer.viewer.answersRequests = false
        for _ in 0..<30 where !peer.viewer.isConnected {
            peer.viewer.check()
            rig.run(for: .milliseconds(100))
        }
        return peer.session.isConnected && peer.viewer.isConnected
    }

    @Test("a viewer that a NAT keeps out until the host has sent something gets in by its candidate")
    func holePunching() throws {
        #expect(try connects(candidates: [candidate(1)]))
        #expect(try !connects(candidates: [candidate(2)]), "it is the candidate that lets it in")
    }

    @Test("candidates that come later are checked, too")
    func trickle() throws {
        let rig = try Rig()
        let peer = try rig.addPeer()
        rig.run(for: .seconds(1))
        #expect(peer.link.sent.isEmpty)
        peer.session.add([candidate(1), candidate(2)], now: rig.now)
        rig.run(for: .milliseconds(60))
        #expect(peer.link.sent.map(\.path.peer) == [candidate(1).address, candidate(2).address])
        let request = try STUNMessage(parsing: try #require(peer.link.sent.first).datagram)
        #expect(request.messageClass == .request && request.username == "peer:host0")
        #expect(!request.useCandidate, "the viewer chooses the path")
        let isControlled = request.attributes.contains {
            if case .iceControlled = $0 { true } else { false }
        }
        #expect(isControlled)
    }

    @Test("a viewer that has connected leaves three tries to its other candidates, and media goes where it nominated")
    func settling() throws {
        let rig = try Rig()
        let other = candidate(7, priority: 900)
        let peer = try rig.addPeer(candidates: [other])
        peer.link.blocks = { $0.path.peer == other.address }
        peer.viewer.check()
        rig.run(for: .milliseconds(100))
        try #require(peer.session.isConnected)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(15))
        #expect(peer.link.sent.count { $0.path.peer == other.address } == 3)
        #expect(peer.link.media.allSatisfy { $0.path == peer.path })
        #expect(peer.wholePictures == rig.published.map(\.contents))
    }

    @Test("an answer by another candidate doesn't take media from the path that the viewer nominated")
    func answerElsewhere() throws {
        let rig = try Rig()
        let peer = try rig.join()
        let nominated = peer.path
        peer.session.add([candidate(9)], now: rig.now)
        peer.path.peer = candidate(9).address
        peer.checksOn = false
        let asked = peer.viewer.hostRequests
        rig.run(for: .milliseconds(20))
        #expect(peer.viewer.hostRequests > asked)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(20))
        #expect(!peer.link.media.isEmpty && peer.link.media.allSatisfy { $0.path == nominated })
    }
}
