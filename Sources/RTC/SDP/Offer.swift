import H264

/// Our offer of one video to who takes it from us: a WHIP endpoint, a conference server.
public struct Offer: Sendable, Equatable {
    /// The description to send, lines ending in CRLF.
    public let text: String
    private let wanted: ProfileLevelID

    private static let mid = "0"
    private static let payloadType: UInt8 = 106
    private static let rtxPayloadType: UInt8 = 107

    /// Offers one sendonly video as `local` (RFC 8829 section 5.2): H.264 with retransmissions, either side of DTLS.
    public init(local: LocalDescription) {
        wanted = local.profileLevelID
        var lines = local.sessionLines(bundle: Self.mid)
        lines += [
            "m=video \(local.port) UDP/TLS/RTP/SAVPF \(Self.payloadType) \(Self.rtxPayloadType)", local.connectionLine,
            "a=mid:\(Self.mid)", "a=sendonly", "a=rtcp-mux", "a=rtcp-rsize",
        ]
        lines += local.transportLines(setup: .actpass)
        for (index, known) in ExtensionURI.all.enumerated() { lines.append("a=extmap:\(index + 1) \(known.uri)") }
        lines += FormatLines.h264(
            payloadType: Self.payloadType, rtxPayloadType: Self.rtxPayloadType,
            parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(local.profileLevelID)",
            feedback: [.nack, .pli, .fir])
        lines += local.sourceLines(hasRTX: true)
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    /// What `answer` agrees to.
    public func negotiated(with answer: SessionDescription) throws(SDPError) -> NegotiatedVideo {
        guard !answer.isICELite else { throw .bothICELite }
        guard answer.media.count == 1, let section = answer.media.first, section.kind == "video",
            section.mid == nil || section.mid == Self.mid
        else { throw .answerDoesNotFitOffer }
        guard !section.isRejected else { throw .videoRejected }
        var video = try VideoNegotiation(session: answer, wanted: wanted).negotiate(section, role: Self.role)
        let rtx = video.rtxPayloadType
        guard video.payloadType == Self.payloadType, rtx == nil || rtx == Self.rtxPayloadType else {
            throw .answerDoesNotFitOffer
        }
        // Not offered.
        video.format444 = nil
        return video
    }

    private static func role(for setup: DTLSSetup?) throws(SDPError) -> NegotiatedVideo.DTLSRole {
        switch setup {
        case .active, nil: .server
        case .passive: .client
        case .some(let other): throw .unsupportedSetup(other)
        }
    }
}
