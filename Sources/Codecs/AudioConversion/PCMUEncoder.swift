/// Encodes sound as PCMU: G.711 mu-law, which has one byte for each sample (ITU-T G.711, RFC 3551 section 4.5.14).
///
///      0 1 2 3 4 5 6 7
///     +-+-+-+-+-+-+-+-+
///     |S| seg |  step |   all bits inverted; each segment is twice as long as the one before
///     +-+-+-+-+-+-+-+-+
public enum PCMUEncoder {
    /// The samples in a second.
    public static let rate = 8_000

    /// What is added to a magnitude of 15 bits, so that the highest bit that is set tells the segment.
    private static let bias: UInt32 = 132
    /// The largest magnitude that has a step.
    private static let limit: Float = 32_635

    /// Appends the bytes of samples of one channel, each from -1 to 1. Samples beyond that are clipped.
    public static func encode(_ samples: UnsafeBufferPointer<Float>, into bytes: inout [UInt8]) {
        for sample in samples { bytes.append(byte(of: sample)) }
    }

    private static func byte(of sample: Float) -> UInt8 {
        // In this order, what is not a number becomes the limit.
        let magnitude = UInt32(min(limit, abs(sample) * 32_768).rounded()) + bias
        let segment = UInt32(24 - magnitude.leadingZeroBitCount)
        let step = magnitude >> (segment + 3) & 0x0F
        let sign: UInt32 = sample < 0 ? 0x80 : 0
        return ~UInt8(truncatingIfNeeded: sign | segment << 4 | step)
    }
}
