import H264

/// Negotiates what a peer's video section and our H.264 have in common (RFC 3264, RFC 6184 section 8.2.2).
struct VideoNegotiation {
    /// The peer's whole description.
    let session: SessionDescription
    /// The profile of the stream that we send, or that we prefer to receive.
    let wanted: ProfileLevelID
    /// Whether the peer sends the video and we receive it.
    var isReceiving = false

    /// The video that `section` of the peer's description agrees to.
    ///
    /// - Parameter role: determines our DTLS role from the peer's setup attribute.
    func negotiate(
        _ section: MediaDescription, role: (DTLSSetup?) throws(SDPError) -> NegotiatedVideo.DTLSRole
    ) throws(SDPError) -> NegotiatedVideo {
        guard ["UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP"].contains(section.transport) else {
            throw .unsupportedTransport(section.transport)
        }
        if isReceiving {
            guard section.direction.sends else { throw .notSending(section.direction) }
        } else {
            guard section.direction.receives else { throw .notReceiving(section.direction) }
        }
        let formats = try isReceiving ? (wanted: receivedFormat(of: section), with444: nil) : formats(of: section)
        let bundled = session.transportSection(of: section)
        guard section.hasRTCPMux || bundled?.hasRTCPMux == true else { throw .noRTCPMux }
        guard let ufrag = section.iceUfrag ?? bundled?.iceUfrag,
            let password = section.icePassword ?? bundled?.icePassword
        else { throw .noICECredentials }
        let ice = try ICECredentials(ufrag: ufrag, password: password)
        let fingerprints = section.fingerprints.isEmpty ? bundled?.fingerprints ?? [] : section.fingerprints
        return NegotiatedVideo(
            format: formats.wanted, format444: formats.with444, mid: section.mid, extensions: extensions(of: section),
            hasReducedSizeRTCP: section.hasReducedSizeRTCP, remoteUfrag: ice.ufrag, remotePassword: ice.password,
            remoteFingerprint: try fingerprint(among: fingerprints),
            dtlsRole: try role(section.setup ?? bundled?.setup))
    }

    /// Chooses the format for our profile, or for one whose decoders can decode ours, or else for any H.264; and the
    /// format for 4:4:4.
    private func formats(
        of section: MediaDescription
    ) throws(SDPError) -> (wanted: NegotiatedVideo.Format, with444: NegotiatedVideo.Format?) {
        let listed = try h264Codecs(of: section).filter { $0.parameters["packetization-mode"] == "1" }.map { codec in
            NegotiatedVideo.Format(
                payloadType: codec.payloadType, rtxPayloadType: retransmission(of: codec, in: section),
                profileLevelID: codec.parameters["profile-level-id"].flatMap { ProfileLevelID(hexText: $0) }
                    ?? .unspecified,
                feedback: feedback(of: codec))
        }
        let with444 = listed.first { $0.profileLevelID.profile == .high444Predictive }
        // A decoder of 4:4:4 also decodes the other profiles, but its payload type is used only for 4:4:4 as long as
        // there is another.
        let others = listed.filter { $0.profileLevelID.profile != .high444Predictive }
        guard
            let chosen = listed.first(where: { $0.profileLevelID.isSameProfile(as: wanted) })
                ?? others.first(where: { $0.profileLevelID.decodesProfile(of: wanted) })
                ?? with444 ?? listed.first
        else { throw .noPacketizationMode1 }
        return (chosen, with444)
    }

    /// The section's H.264 codecs with any payload type; at least one.
    func h264Codecs(of section: MediaDescription) throws(SDPError) -> [PayloadFormat] {
        let all = section.codecs.filter { $0.isNamed("H264") && $0.clockRate == 90_000 }
        guard all.isEmpty else { return all }
        var names: [String] = []
        for codec in section.codecs where !codec.isNamed("rtx") && !names.contains(codec.name) {
            names.append(codec.name)
        }
        throw .noH264(offered: names)
    }

    private func retransmission(of codec: PayloadFormat, in section: MediaDescription) -> UInt8? {
        section.codecs.first {
            $0.isNamed("rtx") && $0.clockRate == codec.clockRate
                && $0.parameters["apt"].flatMap { UInt8($0) } == codec.payloadType
        }?.payloadType
    }

    func feedback(of codec: PayloadFormat) -> NegotiatedVideo.Feedback {
        var feedback: NegotiatedVideo.Feedback = []
        for known in NegotiatedVideo.Feedback.names where codec.feedback.contains(known.name) {
            feedback.insert(known.feedback)
        }
        return feedback
    }

    /// Keeps extensions with the numbers 1 to 14, which fit one-byte headers; 15 is reserved there (RFC 8285 section
    /// 4.2).
    private func extensions(of section: MediaDescription) -> NegotiatedVideo.Extensions {
        var agreed = NegotiatedVideo.Extensions()
        var taken: Set<UInt16> = []
        for known in section.extensions {
            guard (1...14).contains(known.id), known.direction?.receives != false,
                let path = ExtensionURI.all.first(where: { $0.uri == known.uri })?.path, agreed[keyPath: path] == nil,
                taken.insert(known.id).inserted
            else { continue }
            agreed[keyPath: path] = UInt8(known.id)
        }
        return agreed
    }

    private func fingerprint(among all: [FingerprintAttribute]) throws(SDPError) -> FingerprintAttribute {
        guard !all.isEmpty else { throw .noFingerprint }
        for (algorithm, length) in [("sha-256", 32), ("sha-384", 48), ("sha-512", 64)] {
            if let found = all.first(where: { $0.algorithm == algorithm && $0.bytes.count == length }) { return found }
        }
        throw .unsupportedFingerprint(all.map(\.algorithm))
    }
}
