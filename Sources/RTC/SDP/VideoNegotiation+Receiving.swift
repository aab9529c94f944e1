import H264

extension VideoNegotiation {
    /// The format that a publisher is to send: packetization-mode 1 before 0, then our own profile, which all viewers
    /// decode, before other profiles, which viewers may be able to decode, and 4:4:4 last (RFC 6184 section 8.2.2).
    ///
    /// No retransmission payload type is negotiated: the publisher sends requested packets again unchanged.
    func receivedFormat(of section: MediaDescription) throws(SDPError) -> NegotiatedVideo.Format {
        let all = try h264Codecs(of: section).map { codec in
            (
                mode: codec.packetizationMode,
                format: NegotiatedVideo.Format(
                    payloadType: codec.payloadType, rtxPayloadType: nil,
                    profileLevelID: codec.parameters["profile-level-id"].flatMap { ProfileLevelID(hexText: $0) }
                        ?? .unspecified,
                    feedback: feedback(of: codec))
            )
        }
        for mode in ["1", "0"] {
            let listed = all.filter { $0.mode == mode }.map(\.format)
            let best =
                listed.first { $0.profileLevelID.isSameProfile(as: wanted) }
                ?? listed.first { $0.profileLevelID.profile != .high444Predictive } ?? listed.first
            if let best { return best }
        }
        // The publisher offers only interleaved packets.
        throw .noPacketizationMode1
    }
}

extension PayloadFormat {
    /// H.264's packetization mode; the default is 0 (RFC 6184 section 8.1).
    var packetizationMode: String { parameters["packetization-mode"] ?? "0" }
}
