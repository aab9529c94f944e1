import MediaTypes

/// Our offer of one video to a peer that receives it: a viewer that waits for an offer, a WHIP endpoint, or a
/// conference server.
public struct Offer: Sendable, Equatable {
    /// The description to send, lines ending in CRLF.
    public let text: String
    private let includes444: Bool
    private let takesCongestionFeedback: Bool

    private static let mid = "0"

    /// Offers one sendonly video as `local` (RFC 8829 section 5.2): each of our codecs with
    /// retransmissions, and either DTLS role.
    ///
    /// - Parameter includes444: whether 4:4:4 is also offered, with payload types of its own.
    public init(local: LocalDescription, including444 includes444: Bool = false) {
        self.includes444 = includes444
        takesCongestionFeedback = local.takesCongestionFeedback
        let feedback = NegotiatedSection.Feedback([.nack, .pli, .fir]).union(takesCongestionFeedback ? .congestion : [])
        let forms = TrackFormat.Codec.ofVideo.flatMap(\.negotiation.offered).filter {
            includes444 || $0.track.chroma != .yuv444
        }
        let formats = zip(forms, stride(from: UInt8(106), to: 127, by: 2)).map { form, payloadType in
            NegotiatedSection.Format(
                payloadType: payloadType, rtxPayloadType: payloadType + 1, track: form.track,
                parameters: form.parameters, feedback: feedback)
        }
        let payloadTypes = formats.flatMap { [$0.payloadType, $0.payloadType + 1] }.map { String($0) }
        var lines = local.sessionLines(bundle: Self.mid)
        lines += [
            "m=video \(local.port) UDP/TLS/RTP/SAVPF \(payloadTypes.joined(separator: " "))", local.connectionLine,
            "a=mid:\(Self.mid)", "a=sendonly", "a=rtcp-mux", "a=rtcp-rsize",
            MediaDescription.receiverRoundTripLine,
        ]
        lines += local.transportLines(setup: .actpass) + local.candidateLines
        let extensions = ExtensionURI.all.filter {
            local.takesCongestionFeedback || $0.uri != ExtensionURI.transportNumber
        }
        for (index, known) in extensions.enumerated() { lines.append("a=extmap:\(index + 1) \(known.uri)") }
        lines += formats.flatMap(\.lines) + local.sourceLines(of: local.streams[0], hasRTX: true)
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    /// The media that `answer` accepts. The payload types are those of the answer, since the receiver may choose other
    /// numbers (RFC 3264 section 6.1).
    public func negotiated(with answer: SessionDescription) throws(SDPError) -> NegotiatedMedia {
        guard !answer.isICELite else { throw .bothICELite }
        guard answer.media.count == 1, let section = answer.media.first, section.kind == "video",
            section.mid == nil || section.mid == Self.mid
        else { throw .answerDoesNotFitOffer }
        guard !section.isRejected else { throw .videoRejected }
        return try MediaNegotiation(
            session: answer, includes444: includes444, takesCongestionFeedback: takesCongestionFeedback
        ).negotiate([section], role: Self.role)
    }

    private static func role(for setup: DTLSSetup?) throws(SDPError) -> NegotiatedMedia.DTLSRole {
        switch setup {
        case .active, nil: .server
        case .passive: .client
        case .some(let other): throw .unsupportedSetup(other)
        }
    }
}
