public import MediaTypes

/// What a client publishes.
public enum RTMPMedia: Sendable {
    /// A picture in decoding order, without a capture time. An IDR picture begins with its SPS and PPS.
    ///
    /// `decoded` and `shown` are times on the client's clock; `shown` differs where the client sends B-frames.
    case picture(CodedFrame, decoded: Interval, shown: Interval)
    /// The configuration of the audio that follows.
    case audioConfiguration(AACConfiguration)
    /// A frame of AAC, which is heard from this time on, on the client's clock.
    case audio([UInt8], heard: Interval)
}

/// AudioSpecificConfig: the properties of an AAC stream (ISO/IEC 14496-3 section 1.6.2.1).
public struct AACConfiguration: Hashable, Sendable {
    /// The configuration as it was sent.
    public let bytes: [UInt8]
    /// Whether it says that there is one channel.
    public let isMono: Bool
    /// How long a frame of 1,024 samples is heard; zero if this isn't known.
    public let frameDuration: Interval

    /// The samples of a channel per second, by their index.
    private static let rates: [Int64] = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// Reads a configuration; nil if it is too short.
    ///
    ///     5 bits object type | 4 bits rate | 24 bits more, if the rate is 15 | 4 bits channels | ...
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 2 else { return nil }
        let first = UInt16(bytes[bytes.startIndex]) << 8 | UInt16(bytes[bytes.startIndex + 1])
        let (objectType, rate, channels) = (first >> 11, first >> 7 & 0xF, first >> 3 & 0xF)
        self.bytes = Array(bytes)
        // Parametric stereo (29) makes two channels of one. Type 31 and rate 15 have longer fields.
        isMono = channels == 1 && ![29, 31].contains(objectType) && rate != 15
        let isKnown = objectType != 31 && Self.rates.indices.contains(Int(rate))
        frameDuration = isKnown ? Interval.seconds(1024) / Self.rates[Int(rate)] : .zero
    }
}

/// Extends times of 32 bits in milliseconds, which wrap after 50 days. The time that is nearest to the last one counts,
/// so that a time may also run back.
struct RTMPClock: Sendable {
    private var last: (timestamp: UInt32, milliseconds: Int64)?

    mutating func time(of timestamp: UInt32) -> Interval {
        let milliseconds =
            last.map { $0.milliseconds &+ Int64(Int32(bitPattern: timestamp &- $0.timestamp)) } ?? Int64(timestamp)
        last = (timestamp, milliseconds)
        return .milliseconds(milliseconds)
    }
}
