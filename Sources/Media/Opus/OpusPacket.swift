public import MediaTypes

/// What the first bytes of an Opus packet say of it (RFC 6716 section 3).
///
///      0 1 2 3 4 5 6 7
///     +-+-+-+-+-+-+-+-+
///     | config  |s| c |   and with c = 3 a second byte:  |v|p|     M     |
///     +-+-+-+-+-+-+-+-+
public struct OpusPacket: Hashable, Sendable {
    /// The most bytes that a packet may have: 48 frames of 2.5 ms share the 120 ms of a packet, and each has at most
    /// 1275 bytes, but nobody sends more than one full frame for each 20 ms (RFC 6716 section 3.2.1).
    public static let byteLimit = 6 * 1275 + 7

    /// How long its sound is: 2.5 to 120 ms.
    public let duration: Interval
    /// Whether it is coded in stereo; a decoder gives mono or stereo for either.
    public let isStereo: Bool

    /// Reads the first bytes of a packet; nil if it is empty, too long or lasts more than 120 ms.
    public init?(_ bytes: ArraySlice<UInt8>) {
        guard let first = bytes.first, bytes.count <= Self.byteLimit else { return nil }
        let count: Int
        switch first & 3 {
        case 0: count = 1
        case 3:
            guard let second = bytes.dropFirst().first else { return nil }
            count = Int(second & 0x3F)
        default: count = 2
        }
        let samples = count * Self.samples(config: first >> 3)
        // 120 ms at 48 kHz (RFC 6716 section 3.4, requirement 5).
        guard (1...5760).contains(samples) else { return nil }
        duration = ClockRate.audio.interval(of: Int64(samples))
        isStereo = first & 4 != 0
    }

    /// The samples at 48 kHz of one frame (RFC 6716 table 2).
    private static func samples(config: UInt8) -> Int {
        switch config {
        case 0..<12: [480, 960, 1920, 2880][Int(config & 3)]
        case 12..<16: [480, 960][Int(config & 1)]
        default: [120, 240, 480, 960][Int(config & 3)]
        }
    }
}

extension OpusPacket {
    /// The length of silence is a multiple of this.
    public static let silentFrame = Interval.microseconds(2_500)
    /// The most frames of silence in a packet, which are 120 ms.
    public static let silentFrameLimit = 48

    /// A packet of `frameCount` times 2.5 ms of silence, clamped to 1...48, in mono.
    ///
    /// Each frame of it is CELT at full bandwidth with the silence flag alone (RFC 6716 section 4.3). Frames of 20 ms
    /// take an eighth of the bytes.
    public static func silence(frameCount: Int) -> [UInt8] {
        let count = max(1, min(frameCount, silentFrameLimit))
        let isLong = count % 8 == 0
        let frames = isLong ? count / 8 : count
        // Code 3, all frames of the same size.
        var bytes: [UInt8] = [isLong ? 0xFB : 0xE3, UInt8(truncatingIfNeeded: frames)]
        for _ in 0..<frames { bytes += [0xFF, 0xFE] }
        return bytes
    }
}
