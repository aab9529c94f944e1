/// Why a peer ends the connection.
public struct EndNotice: Hashable, Sendable {
    /// The reason, for programs.
    public var reason: EndReason
    /// The reason in words, for people; at most 1024 bytes of UTF-8 are sent.
    public var text: String

    /// Creates a notice with these values.
    public init(reason: EndReason, text: String) {
        self.reason = reason
        self.text = text
    }
}

/// Why a peer ends the connection, for programs.
public enum EndReason: UInt8, Sendable, CaseIterable {
    /// It was asked to.
    case stopped = 0
    /// The X server went away.
    case displayLost = 1
    /// The window that was shared is gone.
    case windowClosed = 2
    /// The encoder failed.
    case encoderFailed = 3
    /// The host accepts no more captures, or not this one.
    case refused = 4
    /// The peers have no version of the protocol in common.
    case versionMismatch = 5
    /// What the peer sent could not be understood.
    case protocolError = 6
    /// The recording has ended.
    case endOfRecording = 7
    /// The host requires a token, and the capture has not proved that it has it.
    case unauthorised = 8
    /// Something else; see the text. A code that we don't know is read as this.
    case other = 255
}
