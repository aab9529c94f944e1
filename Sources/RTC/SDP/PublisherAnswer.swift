/// Our answer to a publisher's offer (WHIP, RFC 9725 section 4.4). Its video is received; its audio is accepted but not
/// used.
///
/// If one media section were rejected, a publisher would go on without it or fail in an unspecified way. So a section
/// that can't be accepted makes the whole offer fail with an error that gives the reason.
public struct PublisherAnswer: Sendable, Equatable {
    /// The description to send back, lines ending in CRLF.
    public let text: String
    /// What the publisher sends and we receive: its video.
    public let media: NegotiatedMedia

    /// Answers `offer` as `local`. The offer must have one video section, and at most one audio section in the same
    /// bundle.
    public init(to offer: SessionDescription, local: LocalDescription) throws(SDPError) {
        guard !offer.isICELite else { throw .bothICELite }
        let wanted = offer.media.filter { !$0.isRejected }
        for section in wanted {
            guard ["video", "audio"].contains(section.kind) else { throw .unwantedSection(kind: section.kind) }
            guard wanted.count(where: { $0.kind == section.kind }) == 1 else {
                throw .severalSections(kind: section.kind)
            }
        }
        guard let section = wanted.first(where: { $0.kind == "video" }) else { throw .noVideo }
        let negotiation = MediaNegotiation(session: offer, isReceiving: true)
        media = try negotiation.negotiate([section], role: { (setup) throws(SDPError) in try .answering(setup) })
        let video = media.sections[0]
        let bundle = offer.bundle(of: video.mid)
        guard wanted.count == 1 || wanted.allSatisfy({ $0.mid.map { bundle?.mids.contains($0) == true } ?? false })
        else { throw .notBundled }

        let mids = bundle == nil ? [] : wanted.compactMap(\.mid)
        var lines = local.sessionLines(bundle: mids.isEmpty ? nil : mids.joined(separator: " "))
        var format = video.format
        format.feedback.remove(.fir)
        // All sections share one transport, and the first section has its candidates.
        var isFirst = true
        for section in offer.media {
            if section.isRejected {
                lines += section.rejectionLines
                continue
            }
            let payloadType = section.kind == "video" ? video.format.payloadType : section.opus?.payloadType ?? 0
            lines += section.acceptanceLines(
                payloadTypes: [payloadType], .recvonly, role: media.dtlsRole, local, hasCandidates: isFirst)
            lines += try section.kind == "video" ? format.lines : Self.audioLines(of: section)
            isFirst = false
        }
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    private static func audioLines(of section: MediaDescription) throws(SDPError) -> [String] {
        guard let opus = section.opus else { throw .noOpus(offered: section.codecs.map(\.name)) }
        // The rtpmap always says two channels (RFC 7587 section 7).
        return ["a=rtpmap:\(opus.payloadType) \(opus.name)/\(opus.clockRate)/2"]
    }
}

extension MediaDescription {
    /// The Opus codec, if the section has it.
    fileprivate var opus: PayloadFormat? { codecs.first { $0.isNamed("opus") && $0.clockRate == 48_000 } }
}
