public import MediaTypes

/// Our own part of an answer or an offer.
public struct LocalDescription: Sendable, Equatable {
    /// The session identifier in `o=`: random, below 2^63.
    public var sessionID: UInt64
    /// 4 to 256 characters of `A-Z a-z 0-9 + /`, with at least 24 random bits.
    public var iceUfrag: String
    /// 22 to 256 of the same characters, with at least 128 random bits.
    public var icePassword: String
    /// The fingerprint of our certificate.
    public var fingerprint: FingerprintAttribute
    /// The addresses at which we can be reached, the preferred one first: some peers try only the first.
    public var addresses: [HostAddress]
    /// The addresses that STUN servers see us at, other than `addresses`.
    public var reflexive: [ReflexiveAddress] = []
    /// Whether we are ICE-lite, so that the peer chooses the path.
    public var isICELite = true
    /// The RTP streams that we can send, at most one of each kind. Only sections of these kinds are offered or
    /// accepted.
    public var streams: [LocalStream]
    /// The canonical name of our RTP endpoint, the same for all our streams (RFC 7022); a single word.
    public var cname: String
    /// Whether we act on transport-wide feedback and REMB about what we send, and therefore offer and accept them.
    public var takesCongestionFeedback = false
    /// Whether the same addresses take TCP connections (RFC 6544).
    public var takesConnections = false
    /// The name of our MediaStream.
    private static let mediaStreamID = "screen"

    public init(
        sessionID: UInt64, iceUfrag: String, icePassword: String, fingerprint: FingerprintAttribute,
        addresses: [HostAddress], streams: [LocalStream], cname: String
    ) {
        self.sessionID = sessionID
        self.iceUfrag = iceUfrag
        self.icePassword = icePassword
        self.fingerprint = fingerprint
        self.addresses = addresses
        self.streams = streams
        self.cname = cname
    }

    /// Our stream of `kind`, if we send that.
    public func stream(of kind: TrackFormat.Kind) -> LocalStream? { streams.first { $0.kind == kind } }

    /// The session-level lines; `mids` are the sections in the bundle.
    func sessionLines(bundle mids: [String]) -> [String] {
        var lines = [
            "v=0", "o=- \(sessionID & (1 << 63 - 1)) 1 IN IP4 127.0.0.1", "s=-", "t=0 0",
        ]
        if isICELite { lines.append("a=ice-lite") }
        if !mids.isEmpty { lines.append("a=group:BUNDLE \(mids.joined(separator: " "))") }
        lines.append("a=msid-semantic: WMS \(Self.mediaStreamID)")
        return lines
    }

    /// The lines of the transport, without the `m=` line and the candidates.
    func transportLines(setup: DTLSSetup) -> [String] {
        iceLines + ["a=fingerprint:\(fingerprint.text)", "a=setup:\(setup.rawValue)"]
    }

    /// The lines of the ICE credentials.
    var iceLines: [String] { ["a=ice-ufrag:\(iceUfrag)", "a=ice-pwd:\(icePassword)"] }

    /// The candidate lines, complete. A peer without ICE would use the first address, over UDP.
    var candidateLines: [String] {
        var candidates = addresses.enumerated().map { Candidate(host: $1, index: $0) }
        candidates += reflexive.enumerated().map { Candidate(reflexive: $1, index: addresses.count + $0) }
        if takesConnections {
            candidates += addresses.enumerated().map {
                Candidate(passiveHost: $1, index: $0, of: addresses.count)
            }
        }
        return candidates.map { "a=" + $0.text } + ["a=end-of-candidates"]
    }

    /// The `c=` line, with the first address unless that is a host name.
    var connectionLine: String {
        guard let address = addresses.first?.address else { return "c=IN IP4 0.0.0.0" }
        if address.utf8.contains(UInt8(ascii: ":")) { return "c=IN IP6 \(address)" }
        let isIPv4 = address.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        return isIPv4 ? "c=IN IP4 \(address)" : "c=IN IP4 0.0.0.0"
    }

    /// The port of the `m=` line: the first address's, or 9, which means "see the candidates".
    var port: UInt16 { addresses.first?.port ?? 9 }

    /// The lines of `stream` and, with `hasRTX`, of its retransmissions.
    func sourceLines(of stream: LocalStream, hasRTX: Bool) -> [String] {
        let name = "msid:\(Self.mediaStreamID) \(stream.trackID)"
        var lines = ["a=" + name]
        if hasRTX { lines.append("a=ssrc-group:FID \(stream.ssrc) \(stream.rtxSSRC)") }
        for ssrc in hasRTX ? [stream.ssrc, stream.rtxSSRC] : [stream.ssrc] {
            lines += ["a=ssrc:\(ssrc) cname:\(cname)", "a=ssrc:\(ssrc) \(name)"]
        }
        return lines
    }
}

/// An RTP stream that we send, with its retransmissions.
public struct LocalStream: Sendable, Equatable {
    /// The kind of media.
    public var kind: TrackFormat.Kind
    /// The SSRC of the stream.
    public var ssrc: UInt32
    /// The SSRC of the retransmissions.
    public var rtxSSRC: UInt32
    /// The name of the MediaStreamTrack; a single word.
    public var trackID: String

    public init(kind: TrackFormat.Kind, ssrc: UInt32, rtxSSRC: UInt32, trackID: String) {
        self.kind = kind
        self.ssrc = ssrc
        self.rtxSSRC = rtxSSRC
        self.trackID = trackID
    }
}
