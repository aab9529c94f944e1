import MediaSessions
import MediaTypes
import RTP
import SDP
import STUN
import SecureTransport
import TestSupport
import Testing

@testable import WebRTC

/// A receiving session and its publisher, 5 ms apart, under a clock that only the test moves.
final class PublishingRig {
    private(set) var now = MonotonicTime(nanoseconds: 5_000_000_000_000)
    let collector = UnitCollector()
    let session: PeerSession
    let publisher: TestPublisher
    private(set) var published: [CodedFrame] = []
    /// Decides which of the publisher's datagrams are lost, and which of the host's.
    var losesToHost: (_ datagram: [UInt8]) -> Bool = { _ in false }
    var losesToPublisher: (_ datagram: [UInt8]) -> Bool = { _ in false }

    /// How long the host leaves the next of the publisher's datagrams unread.
    var wait = Interval.zero

    private let link = TestLink()
    private var toHost: [(time: MonotonicTime, arrival: MonotonicTime, datagram: [UInt8])] = []
    private let path = NetworkPath(
        peer: TransportAddress(ipv4: 192, 0, 2, 1, port: 50_000),
        local: TransportAddress(ipv4: 192, 0, 2, 200, port: 7000))

    /// - Parameters:
    ///   - rtxPayloadType: the payload type with which the publisher sends lost packets again.
    ///   - change: changes what the publisher offers, which has the payload types of `TestPublisher`.
    init(
        isDTLSClient: Bool = false, answersNacks: Bool = true, answersKeyFrameRequests: Bool = true,
        rtxPayloadType: PayloadType? = nil, offer change: (String) -> String = { $0 }
    ) throws {
        let host = try DTLSContext(certificate: Certificate())
        let context = try DTLSContext(certificate: Certificate())
        let parameters = SessionParameters(
            id: MediaSessionID(rawValue: 1), localUfrag: "host", localPassword: "a password of the host",
            remoteUfrag: TestPublisher.ufrag, remotePassword: "", remoteFingerprint: context.certificate.fingerprint,
            isDTLSClient: isDTLSClient, canonicalName: "host", clock: Rig.clock)
        var offer = change(PublisherOffers.obs)
        if !answersNacks { offer = offer.replacing("a=rtcp-fb:96 nack\r\n", with: "") }
        if !answersKeyFrameRequests { offer = offer.replacing("a=rtcp-fb:96 nack pli\r\n", with: "") }
        let answer = try PublisherAnswer(to: SessionDescription(parsing: offer), local: Self.local)
        let publications = answer.media.sections.map { [collector] in Publication($0, to: collector) }
        session = PeerSession(
            parameters, role: .publishing(PublishedTracks(publications)), context: host, sink: link, now: now)
        publisher = try TestPublisher(
            hostUfrag: "host", hostPassword: "a password of the host",
            hostFingerprint: host.certificate.fingerprint, context: context, role: isDTLSClient ? .server : .client,
            rtxPayloadType: rtxPayloadType, now: now)
        publisher.check()
        for _ in 0..<100 where !(session.isConnected && publisher.isConnected) { run(for: .milliseconds(5)) }
        try #require(session.isConnected && publisher.isConnected, "no connection: \(session.end?.description ?? "-")")
    }

    private static let local = LocalDescription(
        sessionID: 1, iceUfrag: "host", icePassword: "a password of the host",
        fingerprint: FingerprintAttribute(algorithm: "sha-256", bytes: [UInt8](repeating: 7, count: 32)),
        addresses: [], streams: [], cname: "host")

    /// Has the publisher send a picture that was captured `age` ago.
    func publish(_ make: (_ captured: MonotonicTime) -> CodedFrame, age: Interval = .milliseconds(4)) {
        let unit = make(now - age)
        published.append(unit)
        publisher.publish(unit, now: now)
    }

    /// Lets `interval` pass, and all that falls into it happen.
    func run(for interval: Interval) {
        now = passTime(from: now, for: interval) { now in
            for datagram in publisher.takeOutgoing() where !losesToHost(datagram) {
                toHost.append((now + Rig.delay + wait, now + Rig.delay, datagram))
            }
            let due = session.end == nil ? session.deadline : .distantFuture
            return min(
                due, publisher.deadline, toHost.first?.time ?? .distantFuture,
                link.inFlight.first?.time ?? .distantFuture)
        } step: { now in
            self.now = now
            link.now = now
            while let first = toHost.first, first.time <= now {
                toHost.removeFirst()
                deliver(first.datagram, arrival: first.arrival)
            }
            while let first = link.inFlight.first, first.time <= now {
                link.inFlight.removeFirst()
                if !losesToPublisher(first.datagram) { publisher.receive(first.datagram, now: now) }
            }
            if publisher.deadline <= now { publisher.advance(now: now) }
            if session.end == nil, session.deadline <= now {
                session.advance(now: now)
                #expect(session.end != nil || session.deadline > now, "a deadline that has passed would spin")
            }
        }
    }

    private func deliver(_ datagram: [UInt8], arrival: MonotonicTime) {
        if DatagramKind(of: datagram) == .stun {
            if let check = try? STUNMessage(parsing: datagram) { _ = session.handle(check, along: path, now: now) }
        } else {
            session.handle(
                datagram[...], kind: DatagramKind(of: datagram), from: path.peer, arrival: arrival, now: now)
        }
    }
}
