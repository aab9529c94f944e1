/// A synchronization source: one stream of packets with its own sequence numbers and clock (RFC 3550 section 3).
public struct SSRC: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bits as they stand in a header.
    public let rawValue: UInt32

    /// The source `rawValue`.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The number in decimal, as in SDP's `a=ssrc`.
    public var description: String { String(rawValue) }
}

/// The number that SDP assigns to a payload format, 0 to 127 (RFC 3550 section 5.1).
public struct PayloadType: Hashable, Sendable, CustomStringConvertible {
    /// The number, always below 128.
    public let rawValue: UInt8

    /// The payload type `rawValue`. The top bit is dropped, because the header has no room for it.
    public init(_ rawValue: UInt8) {
        self.rawValue = rawValue & 0x7F
    }

    public var description: String { String(rawValue) }
}
