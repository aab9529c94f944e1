import MediaTypes

/// Our answer to a viewer's offer: it accepts one video section and, in the same bundle, one audio section, which we
/// send, and rejects everything else.
public struct Answer: Sendable, Equatable {
    /// The description to send back, lines ending in CRLF.
    public let text: String
    /// What we send.
    public let media: NegotiatedMedia

    /// Answers `offer` as `local` (RFC 8829 section 5.3). If there are several video sections, the first suitable one
    /// is used, and so is the first suitable audio section in its bundle, if `local` has a stream of sound. `role` is
    /// our role in DTLS if the choice is ours.
    ///
    /// - Throws: ``SDPError`` if no video section is suitable: the reason for the first one. `bothICELite` if the peer
    ///   looks for no path either.
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
                let withSound = local.stream(of: .audio) != nil
                let media = try negotiation.negotiate(section, withSound: withSound) { (setup) throws(SDPError) in
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

        let isBundled = offer.bundle(of: offer.media[accepted.index].mid) != nil
        var lines = local.sessionLines(bundle: isBundled ? media.sections.compactMap(\.mid) : [])
        for (index, section) in offer.media.enumerated() {
            // Sound is in a bundle, where each section has a name.
            let agreed = media.sections.first {
                $0.kind == .video ? index == accepted.index : $0.mid == section.mid
            }
            if let agreed, let stream = local.stream(of: agreed.kind) {
                lines += Self.lines(accepting: section, as: agreed, in: media, stream, local)
            } else {
                lines += section.rejectionLines
            }
        }
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    private static func lines(
        accepting section: MediaDescription, as agreed: NegotiatedSection, in media: NegotiatedMedia,
        _ stream: LocalStream, _ local: LocalDescription
    ) -> [String] {
        // Each payload type once.
        let formats = agreed.formats.filter { format in
            agreed.formats.first { $0.payloadType == format.payloadType } == format
        }
        var lines = section.acceptanceLines(
            payloadTypes: formats.flatMap(\.payloadTypes), .sendonly, role: media.dtlsRole, local,
            hasCandidates: agreed.kind == media.sections[0].kind)

        for known in ExtensionURI.all {
            guard let id = agreed.extensions[keyPath: known.path] else { continue }
            let offered = section.extensions.first { $0.id == UInt16(id) && $0.uri == known.uri }
            let direction = offered?.direction == .recvonly ? "/sendonly" : ""
            lines.append("a=extmap:\(id)\(direction) \(known.uri)")
        }

        return lines + formats.flatMap(\.lines)
            + local.sourceLines(of: stream, hasRTX: formats.contains { $0.rtxPayloadType != nil })
    }
}
