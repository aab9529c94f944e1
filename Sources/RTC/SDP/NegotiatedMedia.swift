public import MediaTypes

/// The result of an offer and its answer: the media sections, and the transport that they share.
public struct NegotiatedMedia: Sendable, Equatable {
    /// Our role in the DTLS handshake.
    public enum DTLSRole: Sendable {
        /// We start the handshake.
        case client
        /// We wait for the handshake.
        case server
    }

    /// The accepted sections whose media is sent or received, at least one and at most one of each kind. The first
    /// section's transport is used.
    public var sections: [NegotiatedSection]
    /// The peer's user name fragment for ICE.
    public var remoteUfrag: String
    /// The peer's password for ICE.
    public var remotePassword: String
    /// The peer's fingerprint: sha-256 if the peer gives one, otherwise sha-384 or sha-512.
    public var remoteFingerprint: FingerprintAttribute
    /// Our role in the DTLS handshake.
    public var dtlsRole: DTLSRole
    /// The peer's candidates in its description.
    public var remoteCandidates: [Candidate] = []
}

/// The negotiated parameters of one media section, which carries one track.
public struct NegotiatedSection: Sendable, Equatable {
    /// The RTCP feedback messages that the peer will send and that we act on; of what a publisher sends, those that we
    /// send.
    public struct Feedback: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Generic NACK (RFC 4585 section 6.2.1).
        public static let nack = Feedback(rawValue: 1)
        /// Picture Loss Indication (RFC 4585 section 6.3.1).
        public static let pli = Feedback(rawValue: 2)
        /// Full Intra Request (RFC 5104 section 4.3.1).
        public static let fir = Feedback(rawValue: 4)
        /// Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1).
        public static let transportWide = Feedback(rawValue: 8)
        /// Receiver Estimated Maximum Bitrate (draft-alvestrand-rmcat-remb-03).
        public static let estimatedBitRate = Feedback(rawValue: 16)

        /// The messages that report the path's rate.
        static let congestion: Feedback = [.transportWide, .estimatedBitRate]

        /// The messages that may be about a stream of `kind`. The estimated bit rate, which is about all streams, is
        /// asked for with the pictures.
        static func about(_ kind: TrackFormat.Kind) -> Feedback {
            switch kind {
            case .video: [.nack, .pli, .fir, .transportWide, .estimatedBitRate]
            case .audio: [.nack, .transportWide]
            }
        }

        /// The messages as spelled in an rtcp-fb line.
        static let names: [(feedback: Feedback, name: String)] = [
            (.nack, "nack"), (.pli, "nack pli"), (.fir, "ccm fir"), (.transportWide, "transport-cc"),
            (.estimatedBitRate, "goog-remb"),
        ]
    }

    /// A payload type and its format.
    public struct Format: Sendable, Equatable {
        /// The payload type of the frames.
        public var payloadType: UInt8
        /// The payload type of its retransmissions (RFC 4588); nil if there is none, and lost packets are sent again
        /// unchanged.
        public var rtxPayloadType: UInt8?
        /// The payload type of packets that carry the frame before as well (RED, RFC 2198); nil if there is none.
        public var redPayloadType: UInt8?
        /// The codec and the chroma format of the frames that have this payload type.
        public var track: TrackFormat
        /// The parameters of the payload type in our answer or offer, as its fmtp line has them.
        public var parameters: String
        /// The feedback that the peer will send about it.
        public var feedback: Feedback
    }

    /// The numbers of the header extensions that we may send: 1 to 14, or nil if the peer does not accept the
    /// extension.
    public struct Extensions: Sendable, Equatable {
        /// The number of the media identification (RFC 9143).
        public var mid: UInt8?
        /// The number of the absolute capture time.
        public var absoluteCaptureTime: UInt8?
        /// The number of the playout delay.
        public var playoutDelay: UInt8?
        /// The number of the transport-wide sequence number, also 16 to 255, which needs the two-byte form; nil if the
        /// peer will not send transport-wide feedback.
        public var transportNumber: UInt8?
        /// The number of the picture's samples; nil unless a viewer asks for them.
        public var corruptionDetection: UInt8?
    }

    /// The formats that the track may have, at least one; the one that most frames will have comes first. Formats may
    /// share a payload type.
    public var formats: [Format]
    /// The media section's identification, as sent in the mid extension.
    public var mid: String?
    /// The numbers of the section's header extensions.
    public var extensions: Extensions
    /// Whether RTCP may be sent and received without reports (RFC 5506).
    public var hasReducedSizeRTCP: Bool

    /// The first format.
    public var format: Format { formats[0] }
    /// The kind of the section's track.
    public var kind: TrackFormat.Kind { format.track.kind }
}

/// The URIs of the header extensions that we send.
enum ExtensionURI {
    static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    static let absoluteCaptureTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
    static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
    static let transportNumber = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    static let corruptionDetection = "http://www.webrtc.org/experiments/rtp-hdrext/corruption-detection"

    /// The extensions that are only for pictures.
    static let ofPictures = [playoutDelay, corruptionDetection]

    /// Each URI with the property that holds its negotiated number.
    static let all: [(uri: String, path: any WritableKeyPath<NegotiatedSection.Extensions, UInt8?> & Sendable)] = [
        (mid, \.mid), (absoluteCaptureTime, \.absoluteCaptureTime), (playoutDelay, \.playoutDelay),
        (transportNumber, \.transportNumber), (corruptionDetection, \.corruptionDetection),
    ]
}
