/// The offer of a viewer: H.264 in three profiles, with Chromium's header extensions and feedback.
enum ViewerOffer {
    /// The header extension with the transport-wide sequence number.
    static let transportNumberURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    private static let transportNumberID = 4

    /// Payload types and profiles. The retransmissions have the next payload type.
    private static let formats: [(payloadType: UInt8, profile: String)] = [
        (102, "42e01f"), (104, "4d001f"), (106, "64001f"),
    ]
    private static let extensions = [
        (5, "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"),
        (9, "urn:ietf:params:rtp-hdrext:sdes:mid"),
        (12, "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"),
    ]

    /// The offer's text. It has no candidates: the host sees the viewer's address when the first check arrives.
    ///
    /// - Parameter beginsHandshake: whether the viewer begins the DTLS handshake; otherwise, the host chooses.
    static func text(
        ufrag: String, password: String, fingerprint: String, offersTransportFeedback: Bool,
        beginsHandshake: Bool = false
    ) -> String {
        let types = formats.map { "\($0.payloadType) \($0.payloadType + 1)" }.joined(separator: " ")
        var lines = [
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
            "m=video 9 UDP/TLS/RTP/SAVPF \(types)", "c=IN IP4 0.0.0.0", "a=mid:0", "a=recvonly", "a=rtcp-mux",
            "a=rtcp-rsize", "a=ice-ufrag:\(ufrag)", "a=ice-pwd:\(password)", "a=fingerprint:\(fingerprint)",
            "a=setup:\(beginsHandshake ? "active" : "actpass")",
        ]
        var feedback = ["ccm fir", "nack", "nack pli"]
        if offersTransportFeedback {
            lines.append("a=extmap:\(transportNumberID) \(transportNumberURI)")
            feedback += ["transport-cc", "goog-remb"]
        }
        lines += extensions.map { "a=extmap:\($0.0) \($0.1)" }
        for (type, profile) in formats {
            lines.append("a=rtpmap:\(type) H264/90000")
            lines += feedback.map { "a=rtcp-fb:\(type) \($0)" }
            lines += [
                "a=fmtp:\(type) level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(profile)",
                "a=rtpmap:\(type + 1) rtx/90000", "a=fmtp:\(type + 1) apt=\(type)",
            ]
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}
