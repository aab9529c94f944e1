/// Our answer to a viewer's offer: one video of ours, everything else refused.
public struct Answer: Sendable, Equatable {
    /// The description to send back, lines ending in CRLF.
    public let text: String
    /// What was agreed on.
    public let video: NegotiatedVideo

    /// Answers `offer` as `local` (RFC 8829 section 5.3). Of several video sections the first that fits is sent on.
    public init(to offer: SessionDescription, local: LocalDescription) throws(SDPError) {
        guard !offer.isICELite else { throw .bothICELite }
        let negotiation = VideoNegotiation(session: offer, wanted: local.profileLevelID)
        var accepted: (index: Int, video: NegotiatedVideo)?
        var firstError: SDPError?
        for (index, section) in offer.media.enumerated() where section.kind == "video" && !section.isRejected {
            do throws(SDPError) {
                accepted = (index, try negotiation.negotiate(section, role: Self.role))
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
                ? Self.lines(accepting: section, video, local) : Self.lines(rejecting: section)
        }
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    /// Who may choose waits: the peer's first flight then comes over a pair that it has checked.
    private static func role(for setup: DTLSSetup?) throws(SDPError) -> NegotiatedVideo.DTLSRole {
        switch setup {
        case .actpass, .active, nil: .server
        case .passive: .client
        case .some(.holdconn): throw .unsupportedSetup(.holdconn)
        }
    }

    private static func lines(rejecting section: MediaDescription) -> [String] {
        var lines = ["m=\(section.kind) 0 \(section.transport) \(section.formats.first ?? "0")", "c=IN IP4 0.0.0.0"]
        if let mid = section.mid { lines.append("a=mid:\(mid)") }
        return lines + ["a=inactive"]
    }

    private static func lines(
        accepting section: MediaDescription, _ video: NegotiatedVideo, _ local: LocalDescription
    ) -> [String] {
        let formats = video.formats
        let payloadTypes = formats.flatMap { [$0.payloadType, $0.rtxPayloadType] }.compactMap { $0 }.map { String($0) }
        var lines = [
            "m=video \(local.port) \(section.transport) \(payloadTypes.joined(separator: " "))", local.connectionLine,
        ]
        if let mid = video.mid { lines.append("a=mid:\(mid)") }
        lines += ["a=sendonly", "a=rtcp-mux"]
        if video.hasReducedSizeRTCP { lines.append("a=rtcp-rsize") }
        lines += local.transportLines(setup: video.dtlsRole == .server ? .passive : .active)

        for known in ExtensionURI.all {
            guard let id = video.extensions[keyPath: known.path] else { continue }
            let offered = section.extensions.first { $0.id == UInt16(id) && $0.uri == known.uri }
            let direction = offered?.direction == .recvonly ? "/sendonly" : ""
            lines.append("a=extmap:\(id)\(direction) \(known.uri)")
        }

        for format in formats {
            let codec = section.codecs.first { $0.payloadType == format.payloadType }
            let isAsymmetric = codec?.parameters["level-asymmetry-allowed"] == "1"
            lines += FormatLines.h264(
                payloadType: format.payloadType, rtxPayloadType: format.rtxPayloadType,
                parameters: (isAsymmetric ? "level-asymmetry-allowed=1;" : "")
                    + "packetization-mode=1;profile-level-id=\(format.profileLevelID)",
                feedback: format.feedback)
        }
        return lines + local.sourceLines(hasRTX: formats.contains { $0.rtxPayloadType != nil })
    }
}

/// The rtpmap, rtcp-fb and fmtp lines of H.264 and its retransmissions.
enum FormatLines {
    static func h264(
        payloadType: UInt8, rtxPayloadType: UInt8?, parameters: String, feedback: NegotiatedVideo.Feedback
    ) -> [String] {
        var lines = ["a=rtpmap:\(payloadType) H264/90000"]
        for known in NegotiatedVideo.Feedback.names where feedback.contains(known.feedback) {
            lines.append("a=rtcp-fb:\(payloadType) \(known.name)")
        }
        lines.append("a=fmtp:\(payloadType) \(parameters)")
        if let rtxPayloadType {
            lines += ["a=rtpmap:\(rtxPayloadType) rtx/90000", "a=fmtp:\(rtxPayloadType) apt=\(payloadType)"]
        }
        return lines
    }
}
