import MediaSessions
import RTP
import STUN
import SecureTransport

/// The parameters of a whole session, negotiated by offer and answer or chosen by us at random. Each of its tracks has
/// its own parameters in a ``WatchedTrack`` or a ``Publication``.
struct SessionParameters: Sendable {
    var id: MediaSessionID
    var localUfrag: String
    var localPassword: String
    var remoteUfrag: String
    var remotePassword: String
    var remoteFingerprint: CertificateFingerprint
    var isDTLSClient: Bool
    /// The address that the peer's offer came from, in text and without the port; nil if that isn't known.
    var client: String?
    /// The name in the reports of all tracks. With the clock that they share, it tells the peer that the tracks are to
    /// be played in synchrony (RFC 3550 section 6.5.1, RFC 7022).
    var canonicalName: String
    var clock: NTPClock
    /// The peer's candidates in its description.
    var candidates: [RemoteCandidate] = []
    var iceRole = ICEAgent.Role.lite
    /// Whether the peer is a server, which passes what it gets on to viewers of its own.
    var isOfServer: Bool { iceRole != .lite }

    /// Whether our handshake may begin at `address` before the peer has answered there.
    ///
    /// Anybody can copy a check and forge its source. A first flight that is sent to another viewer would spoil that
    /// viewer's own handshake. Signalling has proved where the peer's machine is; who forges that address too can only
    /// spoil the handshakes of a neighbour. As DTLS server, we send nothing unasked.
    func mayBegin(at address: TransportAddress) -> Bool {
        // Nobody can forge the address of a TCP connection.
        guard isDTLSClient, address.connection == 0, let client else { return true }
        let mapped = "::ffff:"
        return address.unmapped.host == (client.hasPrefix(mapped) ? client.dropFirst(mapped.count) : client[...])
    }
}
