import MediaSessions
import MediaTypes
import RTP
import STUN
import SecureTransport
import Synchronization
import TestSupport
import Testing

@testable import WebRTC

struct SessionLifeTests {
    @Test("either side may begin the DTLS handshake", arguments: [false, true])
    func roles(isDTLSClient: Bool) throws {
        let rig = try Rig()
        let peer = try rig.join(isDTLSClient: isDTLSClient)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(50))
        #expect(peer.wholePictures == rig.published.map(\.contents))
        #expect(peer.viewer.replies.first?.xorMappedAddress == peer.path.peer)
    }

    @Test("the first picture takes two round trips from the first check if we begin the handshake, and else three")
    func firstPicture() throws {
        for (isDTLSClient, roundTrips) in [(true, 2), (false, 3)] {
            let rig = try Rig()
            let peer = try rig.addPeer(isDTLSClient: isDTLSClient)
            rig.publish { Pictures.idr(5_000, captured: $0) }
            peer.viewer.check()
            let last = Rig.delay * Int64(2 * roundTrips)
            rig.run(for: last - .milliseconds(1))
            #expect(peer.wholePictures.isEmpty)
            rig.run(for: .milliseconds(2))
            #expect(peer.wholePictures == rig.published.map(\.contents))
            #expect(peer.viewer.strangeDatagrams == 0)
        }
    }

    @Test("a viewer that is silent for 30 s is gone")
    func silence() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(40))
        #expect(peer.session.end == nil, "checks keep the session")
        peer.isSilent = true
        rig.run(for: .seconds(27))
        #expect(peer.session.end == nil)
        rig.run(for: .seconds(4))
        #expect(peer.session.end == .other("the peer has been silent for 30 s"))
    }

    @Test(
        "a viewer that vanishes costs some checks after 2 s, and no encoder; if it is back, it begins with a key frame",
        arguments: [(false, 8_000), (true, 8_000), (true, 24_000)])
    func vanished(hasTransportNumbers: Bool, byteCount: Int) throws {
        let rig = try Rig()
        let peer = try rig.join(hasTransportNumbers: hasTransportNumbers)
        var arrivals = ArrivalFeedback(of: peer.viewer, now: rig.now)
        func watch(for seconds: Int) throws {
            for _ in 0..<10 * seconds {
                for _ in 0..<3 {
                    rig.publish { Pictures.delta(byteCount, seed: 1, captured: $0) }
                    rig.run(for: .milliseconds(33))
                }
                if hasTransportNumbers, let feedback = try arrivals.take() {
                    peer.viewer.send(.transportFeedback(feedback))
                }
            }
        }
        rig.publish { Pictures.idr(5_000, captured: $0) }
        try watch(for: 8)
        #expect(peer.wholePictures.count == rig.published.count, "a viewer that answers checks gets all")
        peer.isSilent = true
        try watch(for: 3)
        let before = peer.wholePictures.count
        let (media, checks) = (peer.mediaPackets.count, peer.viewer.hostRequests)
        try watch(for: 10)
        #expect(peer.mediaPackets.count == media)
        #expect((20...70).contains(peer.viewer.hostRequests - checks))
        #expect(rig.feed.low == nil && peer.session.end == nil)
        let requests = rig.source.keyFrameRequests
        peer.isSilent = false
        try watch(for: 1)
        #expect(rig.source.keyFrameRequests > requests)
        #expect(peer.wholePictures.count == before, "what it has missed would only be late")
        rig.publish { Pictures.idr(5_000, seed: 3, captured: $0) }
        try watch(for: 2)
        #expect(peer.wholePictures.count == before + 61 && rig.feed.low == nil)
    }

    @Test("a peer that is attended is asked each second, told of at once, and gone after the time that it is given")
    func attended() throws {
        let rig = try Rig()
        let peer = try rig.addPeer()
        let connections = Mutex(0)
        peer.session.enableKeepalive(
            timeout: .seconds(3), onConnect: { connections.withLock { $0 += 1 } }, now: rig.now)
        rig.run(for: .seconds(4))
        #expect(peer.session.end == nil && connections.withLock { $0 } == 0, "it may take its time to come")
        peer.checksOn = false
        peer.viewer.check()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(20))
        #expect(peer.session.end == nil && connections.withLock { $0 } == 1, "its answers keep the session")
        // A burst of losses takes one question, and not the session.
        peer.isSilent = true
        rig.run(for: .milliseconds(1_000))
        peer.isSilent = false
        rig.run(for: .seconds(5))
        #expect(peer.session.end == nil)
        peer.isSilent = true
        rig.run(for: .milliseconds(1_500))
        #expect(peer.session.end == nil)
        rig.run(for: .seconds(2))
        #expect(peer.session.end == .other("the peer has been silent for 3 s"))
    }

    @Test("reports alone keep a session too")
    func reportsKeep() throws {
        let rig = try Rig()
        let peer = try rig.join()
        peer.checksOn = false
        rig.publish { Pictures.idr(5_000, captured: $0) }
        for _ in 0..<8 {
            rig.run(for: .seconds(10))
            peer.viewer.report(now: rig.now)
        }
        #expect(peer.session.end == nil)
    }

    @Test("a session whose peer never comes ends after 30 s")
    func neverCame() throws {
        let rig = try Rig()
        let peer = try rig.addPeer()
        rig.run(for: .seconds(29))
        #expect(peer.session.end == nil)
        rig.run(for: .seconds(2))
        #expect(peer.session.end == .other("no connectivity check from the peer within 30 s"))
    }

    @Test("a peer that says goodbye by DTLS ends the session at once")
    func closeNotify() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(1))
        peer.viewer.close()
        rig.run(for: .milliseconds(6))
        #expect(peer.session.end == .byPeer)
        let sent = peer.link.sent.count
        rig.publish { Pictures.delta(500, seed: 1, captured: $0) }
        rig.run(for: .seconds(2))
        #expect(peer.link.sent.count == sent, "nothing is sent after the end")
    }

    @Test("the host's end is told to the peer")
    func hostCloses() throws {
        let rig = try Rig()
        let peer = try rig.join()
        peer.session.close(now: rig.now)
        #expect(peer.session.end == .other("closed"))
        rig.run(for: .milliseconds(20))
        #expect(peer.viewer.hasEnded)
    }

    @Test("a check with a wrong password gets an error and leaves no state behind")
    func wrongPassword() throws {
        let rig = try Rig()
        let peer = try rig.addPeer()
        var request = peer.viewer.checkRequest()
        request.password = "something else entirely"
        let check = try STUNMessage(parsing: request.bytes)
        #expect(!peer.session.handle(check, along: peer.path, now: rig.now))
        let reply = try STUNMessage(parsing: try #require(peer.link.sent.first).datagram)
        #expect(reply.messageClass == .error)
        #expect(reply.errorCode?.code == 401)
        peer.viewer.startDTLS(now: rig.now)
        rig.run(for: .seconds(1))
        #expect(peer.link.sent.count == 1, "a ClientHello from an unproved peer is not answered")
        #expect(!peer.session.isConnected)
    }

    @Test("a certificate other than the offer's ends the session")
    func wrongCertificate() throws {
        let rig = try Rig()
        let peer = try rig.addPeer(promised: Certificate().fingerprint)
        peer.viewer.check()
        rig.run(for: .milliseconds(100))
        let end = try #require(peer.session.end).description
        #expect(end.contains("fingerprint") || end.contains("certificate"))
        #expect(!peer.session.isConnected)
        #expect(!peer.link.sent.contains { $0.kind == .rtp })
    }

    @Test("pictures follow the peer to the way that it nominates, and not to one it only tries")
    func nomination() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(1))
        rig.move(peer)
        #expect(peer.link.media.last?.path == peer.path)
    }

    @Test("a peer is known under a few addresses only, and never loses the one in use")
    func addressLimit() throws {
        let rig = try Rig()
        let peer = try rig.join()
        #expect(peer.session.ice.learnRemoteAddress(peer.path.peer, now: rig.now) == nil)
        for port in UInt16(1)...40 {
            let address = TransportAddress(ipv4: 198, 51, 100, 1, port: port)
            let givenUp = peer.session.ice.learnRemoteAddress(address, now: rig.now)
            #expect(givenUp != address && givenUp != peer.path.peer)
        }
        #expect(peer.session.ice.addresses.count == SessionICE.addressLimit)
        #expect(peer.session.ice.addresses.contains(peer.path.peer))
        // Two sessions that take one address from each other, as whoever has a link may make them do.
        let contested = TransportAddress(ipv4: 198, 51, 100, 2, port: 1)
        for _ in 0..<100 { _ = peer.session.ice.learnRemoteAddress(contested, now: rig.now) }
        #expect(peer.session.ice.addresses.count == SessionICE.addressLimit)
        #expect(peer.session.ice.addresses.count { $0 == contested } == 1)
    }

    @Test("garbage and mutated datagrams of every kind leave an established session working", arguments: 1...4)
    func garbage(seed: Int) throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .milliseconds(500))
        var random = SeededRandom(seed: UInt64(seed))
        let nack = RTCPPacket.genericNack(
            GenericNack(sender: SSRC(1), media: peer.viewer.settings.media, sequenceNumbers: [SequenceNumber(3)]))
        let samples: [[UInt8]] = [
            peer.viewer.checkRequest().bytes,
            try #require(peer.viewer.protected([nack])),
            // A record of application data and an alert in the clear.
            [23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 32] + [UInt8](repeating: 7, count: 32),
            [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40],
            [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            try #require(peer.link.media.last).datagram,
            [],
        ]
        for round in 0..<400 {
            let sample = samples[round % samples.count]
            var datagram = random.mutation(of: sample)
            if round % 9 == 0 { datagram = (0..<round).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
            switch DatagramKind(of: datagram) {
            case .stun:
                // One whose FINGERPRINT became something unknown is still signed.
                guard datagram != sample, let check = try? STUNMessage(parsing: datagram), check.hasFingerprint
                else { continue }
                #expect(!peer.session.handle(check, along: peer.path, now: rig.now))
            case let kind:
                peer.session.handle(datagram[...], kind: kind, from: peer.path.peer, arrival: rig.now, now: rig.now)
            }
            if round % 40 == 0 {
                rig.publish { Pictures.delta(3_000, seed: UInt64(round), captured: $0) }
                rig.run(for: .milliseconds(20))
            }
        }
        rig.run(for: .milliseconds(100))
        #expect(peer.session.end == nil)
        #expect(peer.wholePictures == rig.published.map(\.contents))
    }
}
