import MediaSessions
import MediaTypes
import STUN
import SecureTransport
import Testing

@testable import WebRTC

/// A session whose handshake the host begins, with a peer that only checks.
struct FirstFlightTests {
    private let link = TestLink()
    private let session: PeerSession
    private let path = NetworkPath(
        peer: TransportAddress(ipv4: 192, 0, 2, 1, port: 50_000),
        local: TransportAddress(ipv4: 192, 0, 2, 200, port: 7000))

    init() throws {
        let own = try DTLSContext(certificate: Certificate())
        var parameters = SessionParameters(
            id: MediaSessionID(rawValue: 1), localUfrag: "host", localPassword: "a password of the host",
            remoteUfrag: "peer", remotePassword: "", remoteFingerprint: own.certificate.fingerprint,
            isDTLSClient: true, canonicalName: "host", clock: Rig.clock)
        parameters.client = "192.0.2.1"
        session = PeerSession(
            parameters, role: .watching(WatchedTracks([]) { TrackFeed(hub: $0, wake: {}) }), context: own, sink: link,
            now: MonotonicTime(nanoseconds: 1))
    }

    /// Has the peer check the path, and returns the flights that were sent so far.
    private func flights(afterCheck number: UInt64, nominates: Bool) throws -> [[UInt8]] {
        let check = CheckRequest(
            username: "host:peer", password: "a password of the host", nominates: nominates, transaction: number)
        let now = MonotonicTime(nanoseconds: Int64(number) * 10_000_000)
        #expect(session.handle(try STUNMessage(parsing: check.bytes), along: path, now: now))
        return link.sent.filter { $0.kind == .dtls }.map(\.datagram)
    }

    @Test("a peer that nominates the path later gets the first flight once more, byte for byte, and then no more")
    func nominatedLater() throws {
        let first = try flights(afterCheck: 1, nominates: false)
        #expect(first.count == 1)
        #expect(try flights(afterCheck: 2, nominates: false) == first)
        #expect(try flights(afterCheck: 3, nominates: true) == first + first)
        #expect(try flights(afterCheck: 4, nominates: true) == first + first)
    }

    @Test("a peer that nominates the path at once gets the first flight once")
    func nominatedAtOnce() throws {
        for number: UInt64 in 1...3 { #expect(try flights(afterCheck: number, nominates: true).count == 1) }
    }
}
