import MediaTypes
import RTP
import SecureTransport

/// A peer session's number in its media server; never used twice.
public struct PeerSessionID: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// The session `rawValue`.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }
}

/// The payload types that carry pictures of one profile.
struct SessionFormat: Sendable {
    var payloadType: PayloadType
    /// The retransmission's; nil where the peer takes none.
    var retransmissionPayloadType: PayloadType?
}

/// What offer and answer settled, and what we drew by lot: all that a session is made of.
struct SessionParameters: Sendable {
    var id: PeerSessionID
    var localUfrag: String
    var localPassword: String
    var remoteUfrag: String
    var remoteFingerprint: CertificateFingerprint
    var isDTLSClient: Bool
    var format: SessionFormat
    /// What carries 4:4:4; nil where the peer doesn't decode it.
    var format444: SessionFormat?
    var extensions: HeaderExtensionFormat
    var ssrc: SSRC
    var retransmissionSSRC: SSRC
    var canonicalName: String
    var clock: NTPClock

    /// What the peer decodes: all formats up to this one.
    var decodes: ChromaFormat { format444 == nil ? .yuv420 : .yuv444 }

    /// The payload types for pictures of `chroma`; nil where the peer doesn't decode them.
    func format(for chroma: ChromaFormat) -> SessionFormat? {
        switch chroma {
        case .yuv420: format
        case .yuv444: format444
        }
    }

    /// The retransmission's payload type for each of the media's.
    var retransmissionPayloadTypes: [PayloadType: PayloadType] {
        var types: [PayloadType: PayloadType] = [:]
        for format in [format, format444].compactMap({ $0 }) {
            types[format.payloadType] = format.retransmissionPayloadType
        }
        return types
    }
}
