public import MediaTypes

/// Our part of an ICE restart, as `application/trickle-ice-sdpfrag` (RFC 8840 section 9, RFC 9725 section 4.3.3).
public struct RestartFragment: Sendable, Equatable {
    /// The fragment to send back, lines ending in CRLF.
    public let text: String

    /// The credentials and candidates of `local`, for the media section that its transport belongs to.
    ///
    /// - Parameters:
    ///   - kind: the kind of the section.
    ///   - mid: the section's identification; nil if it has none.
    ///   - payloadType: one of the section's payload types.
    public init(local: LocalDescription, kind: TrackFormat.Kind, mid: String?, payloadType: UInt8) {
        var lines = ["a=ice-lite"]
        if let mid { lines.append("a=group:BUNDLE \(mid)") }
        lines.append("m=\(kind.sectionName) 9 UDP/TLS/RTP/SAVPF \(payloadType)")
        if let mid { lines.append("a=mid:\(mid)") }
        lines += local.iceLines + local.candidateLines
        text = lines.joined(separator: "\r\n") + "\r\n"
    }
}
