public import H264

/// What both sides agreed on for the video that we send, and what a transport needs to know of the peer.
public struct NegotiatedVideo: Sendable, Equatable {
    /// RTCP feedback messages that the peer will send and we act on.
    public struct Feedback: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Generic NACK (RFC 4585 section 6.2.1).
        public static let nack = Feedback(rawValue: 1)
        /// Picture Loss Indication (RFC 4585 section 6.3.1).
        public static let pli = Feedback(rawValue: 2)
        /// Full Intra Request (RFC 5104 section 4.3.1).
        public static let fir = Feedback(rawValue: 4)

        /// As in an rtcp-fb line.
        static let names: [(feedback: Feedback, name: String)] = [
            (.nack, "nack"), (.pli, "nack pli"), (.fir, "ccm fir"),
        ]
    }

    /// A payload type and what it carries.
    public struct Format: Sendable, Equatable {
        /// The payload type of H.264.
        public var payloadType: UInt8
        /// The payload type of its retransmissions (RFC 4588); nil: none, lost packets go again as they were.
        public var rtxPayloadType: UInt8?
        /// The peer's profile-level-id at that payload type.
        public var profileLevelID: ProfileLevelID
        /// What the peer will send about it.
        public var feedback: Feedback
    }

    /// The numbers of the header extensions that we may send: 1 to 14, nil where the peer does not take one.
    public struct Extensions: Sendable, Equatable {
        public var mid: UInt8?
        public var absoluteCaptureTime: UInt8?
        public var playoutDelay: UInt8?

        public init() {}
    }

    /// Which side of DTLS we are.
    public enum DTLSRole: Sendable {
        /// We begin.
        case client
        /// We wait.
        case server
    }

    /// What carries the stream in the profile of ``LocalDescription/profileLevelID``.
    public var format: Format
    /// What carries it in High 4:4:4 Predictive; nil where the peer doesn't decode that. The same as `format` where the peer
    /// lists no other profile.
    public var format444: Format?
    /// The media section's name, as it stands in the mid extension.
    public var mid: String?
    public var extensions: Extensions
    /// RTCP may come and go without reports (RFC 5506).
    public var hasReducedSizeRTCP: Bool
    public var remoteUfrag: String
    public var remotePassword: String
    /// By sha-256 where the peer gives one, else by sha-384 or sha-512.
    public var remoteFingerprint: CertificateFingerprint
    public var dtlsRole: DTLSRole

    /// The payload type of `format`.
    public var payloadType: UInt8 { format.payloadType }
    /// The payload type of its retransmissions.
    public var rtxPayloadType: UInt8? { format.rtxPayloadType }
    /// The peer's profile-level-id at that payload type.
    public var profileLevelID: ProfileLevelID { format.profileLevelID }
    /// What the peer will send about it.
    public var feedback: Feedback { format.feedback }
    /// Each payload type once.
    var formats: [Format] {
        guard let format444, format444.payloadType != format.payloadType else { return [format] }
        return [format, format444]
    }
}

/// URIs of the header extensions that we send.
enum ExtensionURI {
    static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    static let absoluteCaptureTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
    static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

    /// Each with its place among the agreed numbers.
    static let all: [(uri: String, path: any WritableKeyPath<NegotiatedVideo.Extensions, UInt8?> & Sendable)] = [
        (mid, \.mid), (absoluteCaptureTime, \.absoluteCaptureTime), (playoutDelay, \.playoutDelay),
    ]
}
