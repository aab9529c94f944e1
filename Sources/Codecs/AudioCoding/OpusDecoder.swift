import COpus

/// Decodes Opus with libopus to samples at 48 kHz, and conceals lost packets.
///
/// Owns the libopus decoder. Not thread-safe. Decoding allocates no memory.
public final class OpusDecoder {
    /// 1 or 2: the channels of the output, whatever a packet has.
    public let channelCount: Int

    private let handle: OpaquePointer
    private let samples: UnsafeMutablePointer<Float>
    /// The samples of each channel in the last packet.
    private var lastFrameCount = OpusEncoder.frameCount
    /// The longest packet, 120 ms (RFC 6716 section 3.4).
    private static let frameLimit = 5760

    /// Opens a decoder whose output has 1 or 2 channels.
    public init(channelCount: Int) throws(AudioCodingError) {
        var code: Int32 = 0
        guard let handle = opus_decoder_create(48_000, Int32(clamping: channelCount), &code) else {
            throw AudioCodingError("opus_decoder_create", code: code)
        }
        self.handle = handle
        self.channelCount = channelCount
        samples = .allocate(capacity: Self.frameLimit * channelCount)
    }

    deinit {
        opus_decoder_destroy(handle)
        samples.deallocate()
    }

    /// Decodes a packet. Nil stands for a lost one, as long as the one before it, and gives sound that hides the loss.
    ///
    /// - Returns: Interleaved samples, which are valid until the next call.
    /// - Throws: What libopus says of a damaged packet; the next one can be decoded.
    public func decode(_ packet: ArraySlice<UInt8>?) throws(AudioCodingError) -> UnsafeBufferPointer<Float> {
        let count: Int32
        if let packet, !packet.isEmpty {
            count = packet.withUnsafeBufferPointer { bytes in
                opus_decode_float(
                    handle, bytes.baseAddress, Int32(clamping: bytes.count), samples, Int32(Self.frameLimit), 0)
            }
        } else {
            count = opus_decode_float(handle, nil, 0, samples, Int32(lastFrameCount), 0)
        }
        guard count > 0 else { throw AudioCodingError("opus_decode_float", code: count) }
        lastFrameCount = Int(count)
        return UnsafeBufferPointer(start: samples, count: Int(count) * channelCount)
    }
}
