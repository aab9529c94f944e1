import MediaTypes

/// Finds the formats that a peer's media sections and we have in common (RFC 3264).
struct MediaNegotiation {
    /// The peer's whole description.
    let session: SessionDescription
    /// Whether the peer sends the media and we receive it.
    var isReceiving = false
    /// Whether we then receive it in each format that we have offered and the peer has, instead of in one.
    var isViewing = false
    /// Whether we have offered 4:4:4, or may answer with it.
    var includes444 = true
    /// Whether we act on transport-wide feedback and REMB. What we receive we always report on, transport-wide.
    var takesCongestionFeedback = false

    /// The media that `sections` of the peer's description agree to.
    ///
    /// - Parameters:
    ///   - sections: at least one; if there are several, they are of one bundle.
    ///   - role: determines our DTLS role from the peer's setup attribute.
    func negotiate(
        _ sections: [MediaDescription], role: (DTLSSetup?) throws(SDPError) -> NegotiatedMedia.DTLSRole
    ) throws(SDPError) -> NegotiatedMedia {
        let agreed = try sections.map { section throws(SDPError) in try negotiate(section) }
        let section = sections[0]
        let bundled = session.transportSection(of: section)
        guard section.hasRTCPMux || bundled?.hasRTCPMux == true else { throw .noRTCPMux }
        guard let ufrag = section.iceUfrag ?? bundled?.iceUfrag,
            let password = section.icePassword ?? bundled?.icePassword
        else { throw .noICECredentials }
        let ice = try ICECredentials(ufrag: ufrag, password: password)
        let fingerprints = section.fingerprints.isEmpty ? bundled?.fingerprints ?? [] : section.fingerprints
        return NegotiatedMedia(
            sections: agreed, remoteUfrag: ice.ufrag, remotePassword: ice.password,
            remoteFingerprint: try fingerprint(among: fingerprints),
            dtlsRole: try role(section.setup ?? bundled?.setup),
            remoteCandidates: section.candidates.isEmpty ? bundled?.candidates ?? [] : section.candidates)
    }

    /// Negotiates `video` and, if `withSound` is true, for the first audio section in its bundle that can be agreed on
    /// too. Without one, only the video is agreed on.
    func negotiate(
        _ video: MediaDescription, withSound: Bool,
        role: (DTLSSetup?) throws(SDPError) -> NegotiatedMedia.DTLSRole
    ) throws(SDPError) -> NegotiatedMedia {
        let alone = try negotiate([video], role: role)
        guard withSound, let mids = session.bundle(of: video.mid)?.mids else { return alone }
        for audio in session.media where audio.trackKind == .audio && !audio.isRejected {
            // The first section of the group that is accepted has the transport of all (RFC 9143 section 7.3.1).
            let place = mids.firstIndex { $0 == audio.mid || $0 == video.mid }
            guard mids.contains(where: { $0 == audio.mid }), let place else { continue }
            let isFirst = mids[place] == audio.mid
            do throws(SDPError) {
                return try negotiate(isFirst ? [audio, video] : [video, audio], role: role)
            } catch {
                continue
            }
        }
        return alone
    }

    private func negotiate(_ section: MediaDescription) throws(SDPError) -> NegotiatedSection {
        guard ["UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP"].contains(section.transport) else {
            throw .unsupportedTransport(section.transport)
        }
        if isReceiving {
            guard section.direction.sends else { throw .notSending(section.direction) }
        } else {
            guard section.direction.receives else { throw .notReceiving(section.direction) }
        }
        var formats = try formats(of: section)
        var extensions = extensions(of: section)
        // The number and the feedback about it are of no use without each other.
        if !formats.contains(where: { $0.feedback.contains(.transportWide) }) { extensions.transportNumber = nil }
        if extensions.transportNumber == nil {
            for index in formats.indices { formats[index].feedback.remove(.transportWide) }
        }
        return NegotiatedSection(
            formats: formats, mid: section.mid, extensions: extensions,
            hasReducedSizeRTCP: section.hasReducedSizeRTCP)
    }

    /// The feedback messages that the one who would have them doesn't use.
    private var uselessFeedback: NegotiatedSection.Feedback {
        isReceiving ? .estimatedBitRate : takesCongestionFeedback ? [] : .congestion
    }

    /// The formats that the section and we have in common, at least one. Of a publisher, it is exactly one. What we
    /// receive has no RED. Sound has no RTX: its packets are sent again unchanged.
    private func formats(of section: MediaDescription) throws(SDPError) -> [NegotiatedSection.Format] {
        let takesOne = isReceiving && !isViewing
        var agreed: [NegotiatedSection.Format] = []
        var refusal: SDPError?
        let codecs = section.trackKind.map { TrackFormat.Codec.all(of: $0) } ?? []
        for codec in codecs where !takesOne || agreed.isEmpty {
            let negotiation = codec.negotiation
            let clockRate = TrackFormat(codec: codec).clockRate.hertz
            let listed = section.codecs.filter { $0.isNamed(negotiation.encodingName) && $0.clockRate == clockRate }
            guard !listed.isEmpty else { continue }
            do throws(SDPError) {
                let chosen = try takesOne ? [negotiation.received(from: listed)] : negotiation.sent(to: listed)
                agreed += chosen.filter { includes444 || $0.1.track.chroma != .yuv444 }.map { offered, form in
                    NegotiatedSection.Format(
                        payloadType: offered.payloadType,
                        rtxPayloadType: codec.kind == .audio ? nil : Self.retransmission(of: offered, in: section),
                        redPayloadType: isReceiving || codec.kind == .video
                            ? nil : Self.redundancy(of: offered, in: section),
                        track: form.track, parameters: form.parameters,
                        feedback: NegotiatedSection.Feedback(
                            NegotiatedSection.Feedback.names.filter { offered.feedback.contains($0.name) }.map(
                                \.feedback)
                        ).intersection(.about(codec.kind)).subtracting(uselessFeedback))
                }
            } catch {
                refusal = refusal ?? error
            }
        }
        guard agreed.isEmpty else { return agreed }
        var names: [String] = []
        for codec in section.codecs where !codec.isNamed("rtx") && !names.contains(codec.name) {
            names.append(codec.name)
        }
        throw refusal ?? (section.trackKind == .audio ? .noOpus(offered: names) : .noCodec(offered: names))
    }

    static func retransmission(of codec: PayloadFormat, in section: MediaDescription) -> UInt8? {
        section.codecs.first {
            $0.isNamed("rtx") && $0.clockRate == codec.clockRate
                && $0.parameters["apt"].flatMap { UInt8($0) } == codec.payloadType
        }?.payloadType
    }

    /// The payload type of RED whose packets hold only `codec`, the frame before and the packet's own.
    static func redundancy(of codec: PayloadFormat, in section: MediaDescription) -> UInt8? {
        section.codecs.first {
            $0.isNamed("red") && $0.clockRate == codec.clockRate
                && $0.parameters["\(codec.payloadType)/\(codec.payloadType)"] != nil
        }?.payloadType
    }

    /// Keeps extensions with the numbers 1 to 14, which fit one-byte headers; 15 is reserved there (RFC 8285 section
    /// 4.2). The transport-wide number is worth the larger two-byte headers, if the peer gives it a larger number. The
    /// playout delay and samples are only for pictures.
    private func extensions(of section: MediaDescription) -> NegotiatedSection.Extensions {
        var agreed = NegotiatedSection.Extensions()
        var taken: Set<UInt16> = []
        for known in section.extensions {
            let isTransportNumber = known.uri == ExtensionURI.transportNumber
            guard takesCongestionFeedback || isReceiving || !isTransportNumber,
                (1...(isTransportNumber ? 255 : 14)).contains(known.id), known.id != 15,
                (isReceiving ? known.direction?.sends : known.direction?.receives) != false,
                section.trackKind == .video || !ExtensionURI.ofPictures.contains(known.uri),
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

extension MediaDescription {
    /// The kind of a track in this section; nil if the section is for something else, such as data.
    var trackKind: TrackFormat.Kind? { [TrackFormat.Kind.video, .audio].first { $0.sectionName == kind } }
}
