/// Our answer to a viewer's offer: it accepts one video section, which we send, and rejects everything else.
public struct Answer: Sendable, Equatable {
    /// The description to send back, lines ending in CRLF.
    public let text: String
    /// The negotiated video.
    public let video: NegotiatedVideo

    /// Answers `offer` as `local` (RFC 8829 section 5.3). If there are several video sections, the first suitable one
    /// is used. `role` is our role in DTLS if the choice is ours.
    public init(
        to offer: SessionDescription, local: LocalDescription, role: NegotiatedVideo.DTLSRole = .server
    ) throws(SDPError) {
        guard !offer.isICELite else { throw .bothICELite }
        let negotiation = VideoNegotiation(session: offer)
        var accepted: (index: Int, video: NegotiatedVideo)?
        var firstError: SDPError?
        for (index, section) in offer.media.enumerated() where section.kind == "video" && !section.isRejected {
            do throws(SDPError) {
                let video = try negotiation.negotiate(section) { (setup) throws(SDPError) in
                    try .answering(setup, prefers: role)
                }
                accepted = (index, video)
                break
            } catch {
                firstError = firstError ?? error
            }
        }
        guard let accepted else { throw firstError ?? .noVideo }
        video = accepted.video

        let bundled = offer.bundle(of: video.mid) == nil ? nil : video.mid
        var lines = local.sessionLines(bundle: bundled)
        for (index, section) in offer.media.enumerated() {
            lines +=
                index == accepted.index
                ? Self.lines(accepting: section, video, local) : section.rejectionLines
        }
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    private static func lines(
        accepting section: MediaDescription, _ video: NegotiatedVideo, _ local: LocalDescription
    ) -> [String] {
        // Each payload type once.
        let formats = video.formats.filter { format in
            video.formats.first { $0.payloadType == format.payloadType } == format
        }
        var lines = section.acceptanceLines(
            payloadTypes: formats.flatMap { [$0.payloadType, $0.rtxPayloadType] }.compactMap { $0 }, .sendonly,
            role: video.dtlsRole, local)

        for known in ExtensionURI.all {
            guard let id = video.extensions[keyPath: known.path] else { continue }
            let offered = section.extensions.first { $0.id == UInt16(id) && $0.uri == known.uri }
            let direction = offered?.direction == .recvonly ? "/sendonly" : ""
            lines.append("a=extmap:\(id)\(direction) \(known.uri)")
        }

        return lines + formats.flatMap(\.lines)
            + local.sourceLines(hasRTX: formats.contains { $0.rtxPayloadType != nil })
    }
}
