import MediaTypes
import RTP
import SecureTransport

/// A peer session's number in its media server; never reused.
public struct PeerSessionID: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// The session `rawValue`.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }
}

/// The parameters of a session: what offer and answer negotiated, and what we chose at random.
struct SessionParameters: Sendable {
    var id: PeerSessionID
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
