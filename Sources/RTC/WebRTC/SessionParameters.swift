import MediaSessions
import RTP
import SecureTransport

/// The parameters of a whole session: what offer and answer negotiated, and what we chose at random. Those of its
/// tracks are a ``WatchedTrack`` or a ``Publication`` each.
struct SessionParameters: Sendable {
    var id: MediaSessionID
    var localUfrag: String
    var localPassword: String
    var remoteUfrag: String
    var remotePassword: String
    var remoteFingerprint: CertificateFingerprint
    var isDTLSClient: Bool
    /// The name in the reports of all tracks. With the clock that they share, it tells the peer that the tracks are to
    /// be played in synchrony (RFC 3550 section 6.5.1, RFC 7022).
    var canonicalName: String
    var clock: NTPClock
}
