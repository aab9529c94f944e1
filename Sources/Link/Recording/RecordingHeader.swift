import ByteCoding
public import MediaTypes

/// The header of a recording: its format, and the recorder's clocks when it began (Protocol/recording.md).
///
///      0 .. 7                       8 .. 9    10 .. 11   12 .. 15   16 .. 23      24 .. 31     32 .. 43   44 .. 47
///     +----------------------------+---------+----------+----------+-------------+------------+----------+----------+
///     | 89 'S' 'R' 'R' 0D 0A 1A 0A | version | length   | reserved | monotonic   | wall clock | reserved | CRC-32   |
///     +----------------------------+---------+----------+----------+-------------+------------+----------+----------+
///
/// All integers have their least significant byte first. In a longer header, the checksum is also in the last four
/// bytes.
public struct RecordingHeader: Hashable, Sendable {
    /// The version that this program writes.
    public static let currentVersion: UInt16 = 1
    /// The first bytes of every recording. As in PNG, they reveal changed line ends, a lost high bit, and a transfer
    /// that stopped at 1A.
    static let magic: [UInt8] = [0x89, 0x53, 0x52, 0x52, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The length of the header that this program writes.
    static let writtenCount = 48
    /// The length of magic, version and length, which have to be read before the rest.
    static let frontCount = 12
    /// The longest header that this program reads.
    static let maxCount = 4096

    /// The time when the recording began, on the recorder's CLOCK_MONOTONIC. Arrival times count from it.
    public var start: MonotonicTime
    /// The same time on CLOCK_REALTIME, in nanoseconds since 1970-01-01 00:00 UTC.
    public var wallClock: Int64

    /// Creates the header of a recording that begins at these times.
    public init(start: MonotonicTime, wallClock: Int64) {
        self.start = start
        self.wallClock = wallClock
    }

    /// The bytes of the header.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.writtenCount)
        writer.append(Self.magic)
        writer.uint16LittleEndian(Self.currentVersion)
        writer.uint16LittleEndian(UInt16(Self.writtenCount))
        writer.uint32LittleEndian(0)
        writer.uint64LittleEndian(UInt64(bitPattern: start.nanoseconds))
        writer.uint64LittleEndian(UInt64(bitPattern: wallClock))
        writer.uint64LittleEndian(0)
        writer.uint32LittleEndian(0)
        writer.uint32LittleEndian(CRC32.of(writer.bytes[...]))
        return writer.bytes
    }

    /// The length of the header that begins with `front`, which has `frontCount` bytes.
    static func count(front: [UInt8]) throws(RecordingError) -> Int {
        var reader = ByteReader(front)
        guard reader.bytes(magic.count)?.elementsEqual(magic) == true else { throw .unrecognized(front: front) }
        guard let version = reader.uint16LittleEndian(), let length = reader.uint16LittleEndian() else {
            throw .cutInFileHeader(count: front.count)
        }
        guard version == currentVersion else { throw .unknownVersion(version) }
        guard writtenCount...maxCount ~= Int(length) else { throw .fileHeaderCheck }
        return Int(length)
    }

    /// Decodes a header from `bytes`, whose number must equal the header's length.
    init(decoding bytes: [UInt8]) throws(RecordingError) {
        var tail = ByteReader(bytes.suffix(4))
        guard tail.uint32LittleEndian() == CRC32.of(bytes.dropLast(4)) else { throw .fileHeaderCheck }
        var reader = ByteReader(bytes.dropFirst(16))
        guard let start = reader.uint64LittleEndian(), let wallClock = reader.uint64LittleEndian() else {
            throw .fileHeaderCheck
        }
        self.init(
            start: MonotonicTime(nanoseconds: Int64(bitPattern: start)), wallClock: Int64(bitPattern: wallClock))
    }
}
