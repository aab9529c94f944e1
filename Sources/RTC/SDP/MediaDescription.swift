import MediaTypes

/// A media section of a session description: an `m=` line and the lines after it.
public struct MediaDescription: Sendable, Equatable {
    /// `video`, `audio`, `application`.
    public var kind: String
    /// The port, 0 in a section that is rejected or bundle-only.
    public var port: UInt16
    /// `UDP/TLS/RTP/SAVPF`, `UDP/DTLS/SCTP`.
    public var transport: String
    /// The payload types, the preferred one first; in a data channel's section, another format name.
    public var formats: [String]

    /// The section's identification (RFC 5888).
    public var mid: String?
    /// The URL by which the section's stream is set up, or what is added to the description's own (RFC 2326 section
    /// C.1.1).
    public var control: String?
    /// The direction of the media, from the point of view of the description's author.
    public var direction: MediaDirection = .sendrecv
    /// Whether port 0 means "only if bundled" instead of "rejected" (RFC 9143).
    public var isBundleOnly = false
    /// `ice-ufrag`: the user name fragment; nil if neither the section nor the session has one.
    public var iceUfrag: String?
    /// `ice-pwd`: the password; nil if neither the section nor the session has one.
    public var icePassword: String?
    /// The fingerprints of the author's certificate (RFC 8122).
    public var fingerprints: [FingerprintAttribute] = []
    /// Which side starts the DTLS handshake.
    public var setup: DTLSSetup?
    /// Whether RTCP is sent on the same port as RTP (RFC 5761).
    public var hasRTCPMux = false
    /// Whether RTCP packets may be sent alone, without a report (RFC 5506).
    public var hasReducedSizeRTCP = false
    /// Whether those who only receive measure the round trip too, by extended reports (`rcvr-rtt`, RFC 3611 section
    /// 5.1).
    public var hasReceiverRoundTrip = false
    /// The codecs of those `formats` that have an rtpmap, in the order of `formats`.
    public var codecs: [PayloadFormat] = []
    /// The RTP header extensions (RFC 8285).
    public var extensions: [HeaderExtension] = []
    /// The candidates that could be parsed.
    public var candidates: [Candidate] = []

    /// Whether the section is rejected and carries no media.
    public var isRejected: Bool { port == 0 && !isBundleOnly }
}

/// The direction of the media, from the point of view of the description's author.
public enum MediaDirection: String, Sendable {
    case sendrecv
    case sendonly
    case recvonly
    case inactive

    /// Whether the description's author receives media.
    public var receives: Bool { self == .sendrecv || self == .recvonly }
    /// Whether the description's author sends media.
    public var sends: Bool { self == .sendrecv || self == .sendonly }
}

/// Which side starts the DTLS handshake (RFC 4145 section 4, RFC 8842).
public enum DTLSSetup: String, Sendable {
    /// Starts the handshake, as the client.
    case active
    /// Waits for the handshake, as the server.
    case passive
    /// Either role; the answer decides.
    case actpass
    /// Neither for now.
    case holdconn
}

/// The fingerprint of a certificate (RFC 8122).
public struct FingerprintAttribute: Sendable, Equatable {
    /// The hash function's name in lower case: `sha-256`.
    public var algorithm: String
    /// The hash itself.
    public var bytes: [UInt8]

    public init(algorithm: String, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Parses `sha-256 AB:CD:…`.
    init?(parsing value: Substring) {
        let words = value.words
        guard words.count == 2 else { return nil }
        algorithm = words[0].lowercased()
        bytes = []
        for pair in words[1].parts(separator: ":") {
            guard pair.utf8.count == 2, let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
    }

    /// `sha-256 AB:CD:…`.
    public var text: String { algorithm + " " + bytes.hexadecimal(separator: ":", uppercase: true) }
}

/// The meaning of a payload type, from its rtpmap, fmtp and rtcp-fb lines.
public struct PayloadFormat: Sendable, Equatable {
    /// The number in the RTP header, 0 to 127.
    public var payloadType: UInt8
    /// The codec's name as the peer spells it; compare without regard to case.
    public var name: String
    /// The clock rate in hertz.
    public var clockRate: UInt32
    /// The channels of audio; nil if the rtpmap has none.
    public var channelCount: Int?
    /// The format parameters, with their names in lower case.
    public var parameters: [String: String] = [:]
    /// The feedback messages of the payload type and of `*`: `nack`, `nack pli`, `ccm fir`, `transport-cc`.
    public var feedback: [String] = []

    /// The meaning of a payload type that has neither parameters nor feedback.
    public init(payloadType: UInt8, name: String, clockRate: UInt32, channelCount: Int? = nil) {
        self.payloadType = payloadType
        self.name = name
        self.clockRate = clockRate
        self.channelCount = channelCount
    }

    /// Whether the codec's name is `other`, without regard to case.
    public func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
}

/// An RTP header extension and its number in this description (RFC 8285).
public struct HeaderExtension: Sendable, Equatable {
    /// The number: 1 to 14 with one-byte headers, up to 255 with two-byte headers, and from 4096 while no number is
    /// assigned yet.
    public var id: UInt16
    /// The URI that identifies the extension.
    public var uri: String
    /// The direction in which the extension is used, from the point of view of the description's author.
    public var direction: MediaDirection?
}
