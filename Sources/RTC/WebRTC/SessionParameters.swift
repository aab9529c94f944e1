import MediaSessions
import MediaTypes
import RTP
import SecureTransport

/// The parameters of a session: what offer and answer negotiated, and what we chose at random.
struct SessionParameters: Sendable {
    var id: MediaSessionID
    var localUfrag: String
    var localPassword: String
    var remoteUfrag: String
    var remotePassword: String
    var remoteFingerprint: CertificateFingerprint
    var isDTLSClient: Bool
    var formats: SessionFormats
    var extensions: HeaderExtensionFormat
    var ssrc: SSRC
    var retransmissionSSRC: SSRC
    var canonicalName: String
    var clock: NTPClock
}
