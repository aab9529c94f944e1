/// Our answer to a viewer's offer: it accepts one video section, which we send, and rejects everything else.
public struct Answer: Sendable, Equatable {
    /// The description to send back, lines ending in CRLF.
    public let text: String
    /// What we send.
    public let media: NegotiatedMedia

    /// Answers `offer` as `local` (RFC 8829 section 5.3). If there are several video sections, the first suitable one
    /// is used. `role` is our role in DTLS if the choice is ours.
    public init(
        to offer: SessionDescription, local: LocalDescription, role: NegotiatedMedia.DTLSRole = .server
    ) throws(SDPError) {
        guard !offer.isICELite else { throw .bothICELite }
        let negotiation = MediaNegotiation(
            session: offer, takesCongestionFeedback: local.takesCongestionFeedback)
        var accepted: (index: Int, media: NegotiatedMedia)?
        var firstError: SDPError?
        for (index, section) in offer.media.enumerated() where section.kind == "video" && !section.isRejected {
            do throws(SDPError) {
                let media = try negotiation.negotiate([section]) { (setup) throws(SDPError) in
                    try .answering(setup, prefers: role)
                }
                accepted = (index, media)
                break
            } catch {
                firstError = firstError ?? error
            }
        }
        guard let accepted else { throw firstError ?? .noVideo }
        media = accepted.media

        let mid = media.sections[0].mid
        let bundled = offer.bundle(of: mid) == nil ? nil : mid
        var lines = local.sessionLines(bundle: bundled)
        for (index, section) in offer.media.enumerated() {
            lines +=
                index == accepted.index
                ? Self.lines(accepting: section, media, local) : section.rejectionLines
        }
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    private static func lines(
        accepting section: MediaDescription, _ media: NegotiatedMedia, _ local: LocalDescription
    ) -> [String] {
        let video = media.sections[0]
        // Each payload type once.
        let formats = video.formats.filter { format in
            video.formats.first { $0.payloadType == format.payloadType } == format
        }
        var lines = section.acceptanceLines(
            payloadTypes: formats.flatMap { [$0.payloadType, $0.rtxPayloadType] }.compactMap { $0 }, .sendonly,
            role: media.dtlsRole, local)

        for known in ExtensionURI.all {
            guard let id = video.extensions[keyPath: known.path] else { continue }
            let offered = section.extensions.first { $0.id == UInt16(id) && $0.uri == known.uri }
            let direction = offered?.direction == .recvonly ? "/sendonly" : ""
            lines.append("a=extmap:\(id)\(direction) \(known.uri)")
        }

        return lines + formats.flatMap(\.lines)
            + local.sourceLines(of: local.streams[0], hasRTX: formats.contains { $0.rtxPayloadType != nil })
    }
}
