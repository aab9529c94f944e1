/// What files store of an Opus stream beside its packets: the identification header (RFC 7845 section 5.1).
///
///     | "OpusHead" | version | channels | pre-skip | input rate | gain | mapping family |
///     |  8 bytes   |    1    |    1     | 2, LE    |   4, LE    |  2   |       1        |
public struct OpusHeader: Hashable, Sendable {
    /// 1 or 2.
    public let channelCount: UInt8

    /// The header of a stream with so many channels.
    public init(channelCount: UInt8) {
        self.channelCount = channelCount
    }

    /// The 19 bytes. Nothing is skipped at the beginning, because a file may begin in the middle of a stream.
    public var bytes: [UInt8] {
        let rate: UInt32 = 48_000
        let rateBytes = (0..<4).map { UInt8(truncatingIfNeeded: rate >> ($0 * 8)) }
        return Array("OpusHead".utf8) + [1, channelCount, 0, 0] + rateBytes + [0, 0, 0]
    }
}
