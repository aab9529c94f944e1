/// A description of one packet's payload: which bytes of an access unit it takes, and which header bytes precede them
/// (RFC 6184 section 5). It holds no bytes itself, so all sessions share those of the access unit. Ranges are offsets
/// into the access unit's bytes.
public enum RTPPayload: Hashable, Sendable {
    /// A single whole NAL unit, unchanged (section 5.6).
    case singleNALUnit(Range<Int>)

    /// Several whole NAL units with the same timestamp: a STAP-A (section 5.7.1).
    ///
    ///     +---------------+-------------------+----------+-------------------+----------+---
    ///     |F|NRI|type 24  | size, 16 bits     | NAL unit | size, 16 bits     | NAL unit | ...
    ///     +---------------+-------------------+----------+-------------------+----------+---
    case aggregate([Range<Int>])

    /// A part of one NAL unit: an FU-A (section 5.8). The range leaves out the NAL unit's own first byte, which the
    /// receiver reconstructs from the two header bytes.
    ///
    ///     +---------------+---------------+---------------
    ///     |F|NRI|type 28  |S|E|R|  type   | part of the NAL unit ...
    ///     +---------------+---------------+---------------
    case fragment(indicator: UInt8, header: UInt8, Range<Int>)

    /// The type of an aggregation packet without decoding order numbers.
    static let aggregateType: UInt8 = 24
    /// The type of a fragmentation unit without decoding order numbers.
    static let fragmentType: UInt8 = 28

    /// The payload's size in a packet, in bytes.
    public var byteCount: Int {
        switch self {
        case .singleNALUnit(let range): range.count
        case .aggregate(let ranges): ranges.reduce(1) { $0 + 2 + $1.count }
        case .fragment(_, _, let range): 2 + range.count
        }
    }

    /// Appends the payload, with bytes from `unit`, the access unit that the payload was made for.
    public func append(to buffer: inout [UInt8], from unit: [UInt8]) {
        switch self {
        case .singleNALUnit(let range):
            buffer.append(contentsOf: unit[range])
        case .aggregate(let ranges):
            // F is set if any NAL unit has it set, and NRI is the maximum of all (section 5.7).
            var forbidden: UInt8 = 0
            var importance: UInt8 = 0
            for range in ranges {
                let header = unit[range.lowerBound]
                forbidden |= header & 0x80
                importance = max(importance, header & 0x60)
            }
            buffer.append(forbidden | importance | Self.aggregateType)
            for range in ranges {
                buffer.appendUInt16(UInt16(truncatingIfNeeded: range.count))
                buffer.append(contentsOf: unit[range])
            }
        case .fragment(let indicator, let header, let range):
            buffer.append(indicator)
            buffer.append(header)
            buffer.append(contentsOf: unit[range])
        }
    }
}
