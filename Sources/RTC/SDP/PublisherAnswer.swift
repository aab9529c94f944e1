/// Our answer to a publisher's offer (WHIP, RFC 9725 section 4.4): its video, and its sound if it has any, are
/// received.
///
/// If one media section were rejected, a publisher would go on without it or fail in an unspecified way. So a section
/// that can't be accepted makes the whole offer fail with an error that gives the reason.
public struct PublisherAnswer: Sendable, Equatable {
    /// The description to send back, lines ending in CRLF.
    public let text: String
    /// What the publisher sends and we receive: its video, and then its sound if it has any.
    public let media: NegotiatedMedia

    /// Answers `offer` as `local`. The offer must have one video section, and at most one audio section in the same
    /// bundle.
    ///
    /// - Throws: ``SDPError`` if it has other sections, or no codec that can be received.
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
        let sections = [section] + wanted.filter { $0.kind == "audio" }
        media = try negotiation.negotiate(sections, role: { (setup) throws(SDPError) in try .answering(setup) })
        let bundle = offer.bundle(of: section.mid)
        guard wanted.count == 1 || wanted.allSatisfy({ $0.mid.map { bundle?.mids.contains($0) == true } ?? false })
        else { throw .notBundled }

        let mids = bundle == nil ? [] : wanted.compactMap(\.mid)
        var lines = local.sessionLines(bundle: mids)
        // All sections share one transport, and the first section has its candidates.
        var isFirst = true
        for section in offer.media {
            guard !section.isRejected,
                let agreed = media.sections.first(where: { $0.kind.sectionName == section.kind })
            else {
                lines += section.rejectionLines
                continue
            }
            var format = agreed.format
            format.feedback.remove(.fir)
            lines += section.acceptanceLines(
                payloadTypes: format.payloadTypes, .recvonly, role: media.dtlsRole, local, hasCandidates: isFirst)
            if let id = agreed.extensions.transportNumber {
                let offered = section.extensions.first { $0.id == UInt16(id) }
                let direction = offered?.direction == .sendonly ? "/recvonly" : ""
                lines.append("a=extmap:\(id)\(direction) \(ExtensionURI.transportNumber)")
            }
            lines += format.lines
            isFirst = false
        }
        text = lines.joined(separator: "\r\n") + "\r\n"
    }
}
