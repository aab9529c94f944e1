/// A synchronisation source: one stream of packets with one sequence and one clock (RFC 3550 section 3).
public struct SSRC: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bits as they stand in a header.
    public let rawValue: UInt32

    /// The source numbered `rawValue`.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// In decimal, as SDP's `a=ssrc` writes it.
    public var description: String { String(rawValue) }
}

/// What a packet carries, by the number that SDP gave it (RFC 3550 section 5.1): 0 to 127.
public struct PayloadType: Hashable, Sendable, CustomStringConvertible {
    /// The number, always below 128.
    public let rawValue: UInt8

    /// The payload type `rawValue`; its top bit, which the header has no room for, is dropped.
    public init(_ rawValue: UInt8) {
        self.rawValue = rawValue & 0x7F
    }

    public var description: String { String(rawValue) }
}
