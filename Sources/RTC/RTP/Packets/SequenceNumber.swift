/// A packet's sequence number, modulo 2^16 (RFC 3550 section 5.1). It is compared by serial number arithmetic (RFC
/// 1982), so it isn't `Comparable`: that order has no smallest element.
public struct SequenceNumber: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bits as they stand in a header.
    public let rawValue: UInt16

    /// The number `rawValue`.
    public init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A stream's first sequence number, from 16 random bits. It is below 2^15, so that a receiver that loses the first
    /// packets can't mistake an early wrap for a jump backwards (it would then guess SRTP's roll-over counter wrong,
    /// RFC 3711 section 3.3.1).
    public static func first(random: UInt16) -> SequenceNumber { SequenceNumber(random & 0x7FFF) }

    /// The number that follows; 0 follows 65535.
    public var next: SequenceNumber { SequenceNumber(rawValue &+ 1) }

    /// The number `count` later, or earlier if negative.
    public func advanced(by count: Int) -> SequenceNumber {
        SequenceNumber(rawValue &+ UInt16(truncatingIfNeeded: count))
    }

    /// How many steps after this number `other` is, taking the shorter way around the wrap: -32768 to 32767.
    public func distance(to other: SequenceNumber) -> Int {
        Int(Int16(bitPattern: other.rawValue &- rawValue))
    }

    public var description: String { String(rawValue) }
}

/// A sequence number that does not wrap: a count of the wraps, followed by the packet's 16 bits.
public struct ExtendedSequenceNumber: Hashable, Comparable, Sendable {
    /// The number; negative only for a late packet from before the first one.
    public let rawValue: Int64

    /// The number `rawValue`.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The sequence number as it stands in a header.
    public var sequenceNumber: SequenceNumber { SequenceNumber(UInt16(truncatingIfNeeded: rawValue)) }

    public static func < (left: ExtendedSequenceNumber, right: ExtendedSequenceNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Extends 16-bit sequence numbers to numbers that don't wrap, relative to the highest one seen (RFC 3550 appendix
/// A.1).
public struct SequenceUnwrapper: Sendable {
    /// The highest number so far; nil before the first packet.
    public private(set) var highest: ExtendedSequenceNumber?

    /// An unwrapper that has seen no packet yet.
    public init() {}

    /// The extended number of a packet that has just arrived. Correct as long as consecutive packets are less than 2^15
    /// apart.
    public mutating func unwrap(_ number: SequenceNumber) -> ExtendedSequenceNumber {
        guard let highest else {
            let first = ExtendedSequenceNumber(Int64(number.rawValue))
            self.highest = first
            return first
        }
        let steps = highest.sequenceNumber.distance(to: number)
        let unwrapped = ExtendedSequenceNumber(highest.rawValue + Int64(steps))
        if unwrapped > highest { self.highest = unwrapped }
        return unwrapped
    }
}
