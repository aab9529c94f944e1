/// A media section of a session description: an `m=` line and what follows it.
public struct MediaDescription: Sendable, Equatable {
    /// `video`, `audio`, `application`.
    public var kind: String
    /// 0 in a section that is rejected or bundle-only.
    public var port: UInt16
    /// `UDP/TLS/RTP/SAVPF`, `UDP/DTLS/SCTP`.
    public var transport: String
    /// Payload types, most wanted first; in a data channel's section another name.
    public var formats: [String]

    /// The section's name (RFC 5888).
    public var mid: String?
    /// Seen from who made the description.
    public var direction: MediaDirection = .sendrecv
    /// Whether port 0 means "only if bundled" instead of "rejected" (RFC 9143).
    public var isBundleOnly = false
    public var iceUfrag: String?
    public var icePassword: String?
    public var iceOptions: [String] = []
    public var fingerprints: [CertificateFingerprint] = []
    /// Who begins DTLS.
    public var setup: DTLSSetup?
    /// RTCP comes over RTP's port (RFC 5761).
    public var hasRTCPMux = false
    /// RTCP packets may come alone, without a report (RFC 5506).
    public var hasReducedSizeRTCP = false
    /// Those of `formats` that an rtpmap names, in the order of `formats`.
    public var codecs: [PayloadFormat] = []
    public var extensions: [HeaderExtension] = []
    public var sources: [SourceAttribute] = []
    public var sourceGroups: [SourceGroup] = []
    /// Those that could be read.
    public var candidates: [Candidate] = []
    public var hasEndOfCandidates = false
    /// `stream track` for each line.
    public var streams: [String] = []

    /// Whether the section carries nothing.
    public var isRejected: Bool { port == 0 && !isBundleOnly }
}

/// Which way media flows, seen from who made the description.
public enum MediaDirection: String, Sendable {
    case sendrecv
    case sendonly
    case recvonly
    case inactive

    /// Whether who made the description takes media.
    public var receives: Bool { self == .sendrecv || self == .recvonly }
    /// Whether who made the description sends media.
    public var sends: Bool { self == .sendrecv || self == .sendonly }
}

/// Who begins DTLS (RFC 4145 section 4, RFC 8842).
public enum DTLSSetup: String, Sendable {
    /// Begins: the client.
    case active
    /// Waits: the server.
    case passive
    /// Either, as the answer likes.
    case actpass
    /// Neither for now.
    case holdconn
}

/// The hash of a certificate (RFC 8122).
public struct CertificateFingerprint: Sendable, Equatable {
    /// The hash's name in lower case: `sha-256`.
    public var algorithm: String
    /// The hash itself.
    public var bytes: [UInt8]

    public init(algorithm: String, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Reads `sha-256 AB:CD:…`.
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
    public var text: String {
        let pairs = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        return algorithm + " " + pairs.joined(separator: ":")
    }
}

/// What a payload type stands for: its rtpmap, fmtp and rtcp-fb lines.
public struct PayloadFormat: Sendable, Equatable {
    public var payloadType: UInt8
    /// As the peer writes it; compare without case.
    public var name: String
    /// In hertz.
    public var clockRate: UInt32
    /// Format parameters, names in lower case.
    public var parameters: [String: String] = [:]
    /// `nack`, `nack pli`, `ccm fir`, `transport-cc`: those of the payload type and those of `*`.
    public var feedback: [String] = []

    /// Whether the codec is called `name`, in any case.
    func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
}

/// An RTP header extension and the number it has here (RFC 8285).
public struct HeaderExtension: Sendable, Equatable {
    /// 1 to 14 with one-byte headers, up to 255 with two-byte ones, 4096 and more while still to be numbered.
    public var id: UInt16
    /// What the extension is.
    public var uri: String
    /// Which way it goes, seen from who made the description.
    public var direction: MediaDirection?
}

/// One attribute of one stream of packets (RFC 5576).
public struct SourceAttribute: Sendable, Equatable {
    public var ssrc: UInt32
    /// `cname`, `msid`.
    public var name: String
    public var value: String
}

/// Streams of packets that belong together, as `FID` ones are a stream and its retransmissions (RFC 5576).
public struct SourceGroup: Sendable, Equatable {
    public var semantics: String
    public var ssrcs: [UInt32]

    public init(semantics: String, ssrcs: [UInt32]) {
        self.semantics = semantics
        self.ssrcs = ssrcs
    }
}
