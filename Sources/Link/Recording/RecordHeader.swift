import ByteCoding
import CaptureLink
import MediaTypes

/// The 24-byte header of every record (Protocol/recording.md).
///
///      0 .. 1       2        3        4 .. 7     8 .. 15      16 .. 19          20 .. 23
///     +------------+--------+--------+----------+------------+-----------------+------------------------+
///     | 1E 'R'     | kind   | flags  | length   | arrival    | CRC-32: content | CRC-32: bytes 0 to 19  |
///     +------------+--------+--------+----------+------------+-----------------+------------------------+
///
/// The last checksum covers everything before it, so a truncated or changed length is never trusted.
struct RecordHeader: Hashable, Sendable {
    /// The kind of a record. Readers skip kinds that they don't know.
    enum Kind: UInt8, Sendable {
        case message = 1
        case connection = 2
        case gap = 3
        case end = 4
    }

    static let marker: [UInt8] = [0x1E, 0x52]
    static let count = 24
    /// The longest content of a message record, and of any other record.
    static let maxMessage = LinkLimits().unit + HeaderFormat.extended.headerCount
    static let maxOther = 64 << 10
    private static let directionBit: UInt8 = 4

    var kindCode: UInt8
    var flags: UInt8
    var length: UInt32
    /// The time in nanoseconds since the recording began.
    var arrival: UInt64
    var contentCheck: UInt32

    var kind: Kind? { Kind(rawValue: kindCode) }
    var limit: Int { kind == .message ? Self.maxMessage : Self.maxOther }
    var direction: LinkDirection { flags & Self.directionBit == 0 ? .toHost : .toCapture }

    /// The form of the message's header, which is in the two low bits of the flags.
    var form: HeaderFormat? {
        switch flags & 3 {
        case 0: .extended
        case 1: .legacy40
        case 2: .legacy16
        default: nil
        }
    }

    init(kind: Kind, flags: UInt8 = 0, arrival: Interval, contentCount: Int, contentCheck: UInt32) {
        kindCode = kind.rawValue
        self.flags = flags
        length = UInt32(clamping: contentCount)
        self.arrival = UInt64(clamping: arrival.nanoseconds)
        self.contentCheck = contentCheck
    }

    /// Decodes a header of 24 bytes; nil if the marker or the checksum is wrong.
    init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard bytes.count == Self.count, reader.bytes(2)?.elementsEqual(Self.marker) == true,
            let kindCode = reader.uint8(), let flags = reader.uint8(), let length = reader.uint32LittleEndian(),
            let arrival = reader.uint64LittleEndian(), let contentCheck = reader.uint32LittleEndian(),
            reader.uint32LittleEndian() == CRC32.of(bytes.dropLast(4))
        else { return nil }
        self.kindCode = kindCode
        self.flags = flags
        self.length = length
        self.arrival = arrival
        self.contentCheck = contentCheck
    }

    /// Appends the header to `writer`.
    func encode(into writer: inout ByteWriter) {
        let start = writer.count
        writer.append(Self.marker)
        writer.uint8(kindCode)
        writer.uint8(flags)
        writer.uint32LittleEndian(length)
        writer.uint64LittleEndian(arrival)
        writer.uint32LittleEndian(contentCheck)
        writer.uint32LittleEndian(CRC32.of(writer.bytes[start...]))
    }

    /// The flags of a message's record.
    static func flags(_ form: HeaderFormat, _ direction: LinkDirection) -> UInt8 {
        let formBits: UInt8 =
            switch form {
            case .extended: 0
            case .legacy40: 1
            case .legacy16: 2
            }
        return formBits | (direction == .toCapture ? directionBit : 0)
    }
}
