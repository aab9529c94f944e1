import COpus
public import MediaTypes

/// Encodes sound to Opus with libopus (RFC 6716), in packets of 20 ms.
///
/// Owns the libopus encoder. Not thread-safe. Encoding allocates no memory.
public final class OpusEncoder {
    /// The number of samples of each channel in a packet.
    public static let frameCount = 960
    /// The bit rates that `bitRate` is clamped to.
    public static let bitRates = BitRate(bitsPerSecond: 16_000)...BitRate(bitsPerSecond: 128_000)

    /// 1 or 2.
    public let channelCount: Int
    /// How much later than its input a decoder plays the output: the number of samples at 48 kHz that come before the
    /// first one of the input.
    public let lookahead: Int
    /// The bit rate of packets that follow, on average. Noise takes up to a tenth more, a deep tone up to a half.
    public private(set) var bitRate: BitRate

    private let handle: OpaquePointer
    private let packet: UnsafeMutablePointer<UInt8>
    /// One frame of the largest size and the byte in front of it (RFC 6716 section 3.2.1).
    private static let packetLimit = 1276
    /// From 7 on, libopus also analyses how tonal sound is, for 25 to 40 % more CPU time. Without that, a tone of 440
    /// Hz in stereo at 128 kbit/s is 42 to 48 dB above the noise if `vbrConstraint` leaves the bit rate of single
    /// packets free, and 37 to 40 dB if not.
    private static let complexity: Int32 = 5
    private static let vbrConstraint: Int32 = 0
    /// The share of packets that may be lost, in percent. From 5 on, libopus codes each packet with less regard to the
    /// one before, which costs 5 dB; lost packets are sent again instead.
    private static let expectedLoss: Int32 = 1

    /// From here on, libopus codes everything by transform anyway. Without its other coder, which is for speech at few
    /// bits, a decoder plays the sound 4 ms earlier.
    private static let transformAlone = BitRate(bitsPerSecond: 24_000)

    /// Opens an encoder for 1 or 2 channels.
    ///
    /// - Throws: `failed` with libopus's reason, for example for another count of channels.
    public init(channelCount: Int, bitRate: BitRate) throws(AudioCodingError) {
        var code: Int32 = 0
        let use = bitRate < Self.transformAlone ? OPUS_APPLICATION_AUDIO : OPUS_APPLICATION_RESTRICTED_LOWDELAY
        guard let handle = opus_encoder_create(48_000, Int32(clamping: channelCount), use, &code) else {
            throw AudioCodingError("opus_encoder_create", code: code)
        }
        var lookahead: Int32 = 0
        let codes = [
            shim_opus_set_complexity(handle, Self.complexity),
            shim_opus_set_vbr_constraint(handle, Self.vbrConstraint), shim_opus_set_in_band_fec(handle, 1),
            shim_opus_set_expected_loss(handle, Self.expectedLoss), shim_opus_set_dtx(handle, 0),
            shim_opus_get_lookahead(handle, &lookahead),
        ]
        if let code = codes.first(where: { $0 != OPUS_OK }) {
            opus_encoder_destroy(handle)
            throw AudioCodingError("opus_encoder_ctl", code: code)
        }
        self.handle = handle
        self.channelCount = channelCount
        self.lookahead = Int(lookahead)
        self.bitRate = bitRate
        packet = .allocate(capacity: Self.packetLimit)
        setBitRate(bitRate)
    }

    deinit {
        opus_encoder_destroy(handle)
        packet.deallocate()
    }

    /// Changes the bit rate from the next packet on; clamped to `bitRates`.
    public func setBitRate(_ wanted: BitRate) {
        bitRate = max(Self.bitRates.lowerBound, min(wanted, Self.bitRates.upperBound))
        // It can't fail within these limits.
        _ = shim_opus_set_bit_rate(handle, Int32(clamping: bitRate.bitsPerSecond))
    }

    /// Forgets earlier input, because later input doesn't continue it.
    public func reset() {
        _ = shim_opus_reset(handle)
    }

    /// Encodes 20 ms of interleaved samples, each from -1 to 1.
    ///
    /// - Returns: The packet, which is valid until the next call.
    /// - Throws: `wrongSampleCount` if `samples` isn't 20 ms of each channel, or `failed` with libopus's reason.
    public func encode(_ samples: [Float]) throws(AudioCodingError) -> UnsafeBufferPointer<UInt8> {
        let expected = Self.frameCount * channelCount
        guard samples.count == expected else {
            throw .wrongSampleCount(found: samples.count, expected: expected)
        }
        let count = samples.withUnsafeBufferPointer { samples -> Int32 in
            guard let start = samples.baseAddress else { return -1 }
            return opus_encode_float(handle, start, Int32(Self.frameCount), packet, Int32(Self.packetLimit))
        }
        guard count > 0 else { throw AudioCodingError("opus_encode_float", code: count) }
        return UnsafeBufferPointer(start: packet, count: Int(count))
    }
}
