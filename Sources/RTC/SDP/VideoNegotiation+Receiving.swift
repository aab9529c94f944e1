import H264

extension VideoNegotiation {
    /// The payload type that a publisher is to send by: packetization-mode 1 before 0, and then the profile that all viewers
    /// decode, one whose stream they may, 4:4:4 last (RFC 6184 section 8.2.2).
    ///
    /// No retransmission payload type is agreed on: what is asked for comes again as it was.
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
        // Interleaved packets alone.
        throw .noPacketizationMode1
    }
}

extension PayloadFormat {
    /// H.264's packetization mode; what isn't said is 0 (RFC 6184 section 8.1).
    var packetizationMode: String { parameters["packetization-mode"] ?? "0" }
}
