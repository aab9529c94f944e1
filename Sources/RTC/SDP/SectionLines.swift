/// The lines of a media section in an answer of ours, whoever offered: what follows from the transport, which is the same for both.
extension MediaDescription {
    /// Refuses the section (RFC 3264 section 6).
    var rejectionLines: [String] {
        var lines = ["m=\(kind) 0 \(transport) \(formats.first ?? "0")", "c=IN IP4 0.0.0.0"]
        if let mid { lines.append("a=mid:\(mid)") }
        return lines + ["a=inactive"]
    }

    /// Takes the section with these payload types, up to what each of them is.
    ///
    /// - Parameters:
    ///   - role: which side of DTLS we are.
    ///   - hasCandidates: whether they stand here; in a bundle the first section has them (RFC 9143 section 7.3.1).
    func acceptanceLines(
        payloadTypes: [UInt8], _ direction: MediaDirection, role: NegotiatedVideo.DTLSRole, _ local: LocalDescription,
        hasCandidates: Bool = true
    ) -> [String] {
        let payloadTypes = payloadTypes.map { String($0) }.joined(separator: " ")
        var lines = ["m=\(kind) \(local.port) \(transport) \(payloadTypes)", local.connectionLine]
        if let mid { lines.append("a=mid:\(mid)") }
        lines += ["a=\(direction.rawValue)", "a=rtcp-mux"]
        if hasReducedSizeRTCP { lines.append("a=rtcp-rsize") }
        lines += local.transportLines(setup: role == .server ? .passive : .active)
        return hasCandidates ? lines + local.candidateLines : lines
    }
}

extension NegotiatedVideo.DTLSRole {
    /// Which side of DTLS an answer takes: who may choose waits. The peer's first flight then comes over a pair that it has
    /// checked; FFmpeg waits itself.
    static func answering(_ setup: DTLSSetup?) throws(SDPError) -> Self {
        switch setup {
        case .actpass, .active, nil: .server
        case .passive: .client
        case .some(.holdconn): throw .unsupportedSetup(.holdconn)
        }
    }
}

/// The rtpmap, rtcp-fb and fmtp lines of H.264 and its retransmissions.
enum FormatLines {
    static func h264(
        payloadType: UInt8, rtxPayloadType: UInt8? = nil, parameters: String, feedback: NegotiatedVideo.Feedback
    ) -> [String] {
        var lines = ["a=rtpmap:\(payloadType) H264/90000"]
        for known in NegotiatedVideo.Feedback.names where feedback.contains(known.feedback) {
            lines.append("a=rtcp-fb:\(payloadType) \(known.name)")
        }
        if !parameters.isEmpty { lines.append("a=fmtp:\(payloadType) \(parameters)") }
        if let rtxPayloadType {
            lines += ["a=rtpmap:\(rtxPayloadType) rtx/90000", "a=fmtp:\(rtxPayloadType) apt=\(payloadType)"]
        }
        return lines
    }
}
