import COpus

/// Decodes Opus with libopus, and conceals lost packets.
///
/// Owns the libopus decoder. Not thread-safe. Decoding allocates no memory.
public final class OpusDecoder {
    /// 1 or 2: the channels of the output, whatever a packet has.
    public let channelCount: Int

    private let handle: OpaquePointer
    private let samples: UnsafeMutablePointer<Float>
    /// The samples of each channel in the last packet.
    private var lastFrameCount: Int
    /// The samples of each channel in the longest packet, 120 ms (RFC 6716 section 3.4).
    private let frameLimit: Int

    /// Opens a decoder whose output has 1 or 2 channels.
    ///
    /// - Parameter rate: the output's samples of one channel in a second: 48,000, 24,000, 16,000, 12,000 or 8,000. A
    ///   lower one costs less than to resample, and the sound that it has no room for is left out.
    /// - Throws: `failed` with libopus's reason, for example for another rate or count of channels.
    public init(channelCount: Int, rate: Int = 48_000) throws(AudioCodingError) {
        var code: Int32 = 0
        guard let handle = opus_decoder_create(Int32(clamping: rate), Int32(clamping: channelCount), &code) else {
            throw AudioCodingError("opus_decoder_create", code: code)
        }
        self.handle = handle
        self.channelCount = channelCount
        lastFrameCount = rate / 50
        frameLimit = rate / 1000 * 120
        samples = .allocate(capacity: frameLimit * channelCount)
    }

    deinit {
        opus_decoder_destroy(handle)
        samples.deallocate()
    }

    /// Decodes a packet. Nil stands for a lost one, as long as the one before it, and gives sound that hides the loss.
    ///
    /// - Returns: Interleaved samples, which are valid until the next call.
    /// - Throws: libopus's error for a damaged packet; the next one can be decoded.
    public func decode(_ packet: ArraySlice<UInt8>?) throws(AudioCodingError) -> UnsafeBufferPointer<Float> {
        let count: Int32
        if let packet, !packet.isEmpty {
            count = packet.withUnsafeBufferPointer { bytes in
                opus_decode_float(
                    handle, bytes.baseAddress, Int32(clamping: bytes.count), samples, Int32(clamping: frameLimit), 0)
            }
        } else {
            count = opus_decode_float(handle, nil, 0, samples, Int32(lastFrameCount), 0)
        }
        guard count > 0 else { throw AudioCodingError("opus_decode_float", code: count) }
        lastFrameCount = Int(count)
        return UnsafeBufferPointer(start: samples, count: Int(count) * channelCount)
    }
}
