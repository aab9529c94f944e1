import MediaTypes

/// The lines of a media section in our answers to viewers and publishers. They follow from the transport, which is the
/// same for both.
extension MediaDescription {
    /// We answer the reference times of those who only receive (RFC 3611 section 5.1).
    static let receiverRoundTripLine = "a=rtcp-xr:rcvr-rtt=all"

    /// The lines that reject the section (RFC 3264 section 6).
    var rejectionLines: [String] {
        var lines = ["m=\(kind) 0 \(transport) \(formats.first ?? "0")", "c=IN IP4 0.0.0.0"]
        if let mid { lines.append("a=mid:\(mid)") }
        return lines + ["a=inactive"]
    }

    /// The lines that accept the section with these payload types, without the lines that describe each payload type.
    ///
    /// - Parameters:
    ///   - role: our role in the DTLS handshake.
    ///   - hasCandidates: whether this section lists the candidates; in a bundle, the first section does (RFC 9143
    ///     section 7.3.1).
    func acceptanceLines(
        payloadTypes: [UInt8], _ direction: MediaDirection, role: NegotiatedMedia.DTLSRole, _ local: LocalDescription,
        hasCandidates: Bool = true
    ) -> [String] {
        let payloadTypes = payloadTypes.map { String($0) }.joined(separator: " ")
        var lines = ["m=\(kind) \(local.port) \(transport) \(payloadTypes)", local.connectionLine]
        if let mid { lines.append("a=mid:\(mid)") }
        lines += ["a=\(direction.rawValue)", "a=rtcp-mux"]
        if hasReducedSizeRTCP { lines.append("a=rtcp-rsize") }
        // A publisher, who sends, learns the round trip from our reception reports. A viewer of pictures with sound
        // needs only one answer.
        if hasReceiverRoundTrip, direction == .sendonly, trackKind == .video {
            lines.append(Self.receiverRoundTripLine)
        }
        lines += local.transportLines(setup: role == .server ? .passive : .active)
        return hasCandidates ? lines + local.candidateLines : lines
    }
}

extension NegotiatedMedia.DTLSRole {
    /// Our DTLS role in an answer. If the choice is ours, `prefers` decides. FFmpeg itself always waits.
    static func answering(_ setup: DTLSSetup?, prefers: Self = .server) throws(SDPError) -> Self {
        switch setup {
        case .actpass: prefers
        case .active, nil: .server
        case .passive: .client
        case .some(.holdconn): throw .unsupportedSetup(.holdconn)
        }
    }
}
