public import H264

/// What we say of ourselves in an answer or an offer.
public struct LocalDescription: Sendable, Equatable {
    /// The number in `o=`: random, below 2^63.
    public var sessionID: UInt64
    /// 4 to 256 characters of `A-Z a-z 0-9 + /`, at least 24 bits random.
    public var iceUfrag: String
    /// 22 to 256 such characters, at least 128 bits random.
    public var icePassword: String
    /// Of our certificate.
    public var fingerprint: CertificateFingerprint
    /// Where we can be reached, the most wanted first: some peers try the first only.
    public var addresses: [HostAddress]
    /// Of our video.
    public var ssrc: UInt32
    /// Of its retransmissions.
    public var rtxSSRC: UInt32
    /// The name of our RTP end, the same for all our streams (RFC 7022); a word.
    public var cname: String
    /// The names of the MediaStream and its track; words.
    public var streamID: String
    public var trackID: String
    /// What our encoder makes.
    public var profileLevelID: ProfileLevelID

    public init(
        sessionID: UInt64, iceUfrag: String, icePassword: String, fingerprint: CertificateFingerprint,
        addresses: [HostAddress], ssrc: UInt32, rtxSSRC: UInt32, cname: String, streamID: String = "screen",
        trackID: String = "screen-video", profileLevelID: ProfileLevelID = .constrainedBaseline
    ) {
        self.sessionID = sessionID
        self.iceUfrag = iceUfrag
        self.icePassword = icePassword
        self.fingerprint = fingerprint
        self.addresses = addresses
        self.ssrc = ssrc
        self.rtxSSRC = rtxSSRC
        self.cname = cname
        self.streamID = streamID
        self.trackID = trackID
        self.profileLevelID = profileLevelID
    }

    /// The lines of session level.
    func sessionLines(bundle mid: String?) -> [String] {
        var lines = [
            "v=0", "o=- \(sessionID & (1 << 63 - 1)) 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=ice-lite",
        ]
        if let mid { lines.append("a=group:BUNDLE \(mid)") }
        lines.append("a=msid-semantic: WMS \(streamID)")
        return lines
    }

    /// The lines of the transport, without the m= line and the candidates.
    func transportLines(setup: DTLSSetup) -> [String] {
        iceLines + ["a=fingerprint:\(fingerprint.text)", "a=setup:\(setup.rawValue)"]
    }

    /// The lines of the ICE generation.
    var iceLines: [String] { ["a=ice-ufrag:\(iceUfrag)", "a=ice-pwd:\(icePassword)"] }

    /// Where we can be reached, all of it: the address that a peer without ICE would use is the first one.
    var candidateLines: [String] {
        addresses.enumerated().map { index, address in "a=" + Candidate(host: address, index: index).text }
            + ["a=end-of-candidates"]
    }

    /// The `c=` line: of the first address where that is one, not a name.
    var connectionLine: String {
        guard let address = addresses.first?.address else { return "c=IN IP4 0.0.0.0" }
        if address.utf8.contains(UInt8(ascii: ":")) { return "c=IN IP6 \(address)" }
        let isIPv4 = address.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        return isIPv4 ? "c=IN IP4 \(address)" : "c=IN IP4 0.0.0.0"
    }

    /// The port of the m= line: that of the first address, or the one that means "see the candidates".
    var port: UInt16 { addresses.first?.port ?? 9 }

    /// The lines of the packet streams that we send.
    func sourceLines(hasRTX: Bool) -> [String] {
        var lines = ["a=msid:\(streamID) \(trackID)"]
        if hasRTX { lines.append("a=ssrc-group:FID \(ssrc) \(rtxSSRC)") }
        for ssrc in hasRTX ? [ssrc, rtxSSRC] : [ssrc] {
            lines += ["a=ssrc:\(ssrc) cname:\(cname)", "a=ssrc:\(ssrc) msid:\(streamID) \(trackID)"]
        }
        return lines
    }
}
