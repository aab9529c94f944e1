public import AudioCoding
import CLibAV
import LibAVMessages
public import MediaTypes

/// A frame of AAC without a header of its own: 1,024 samples of each channel.
public struct AACFrame: Hashable, Sendable {
    /// The raw data block (ISO/IEC 14496-3), without an ADTS header.
    public let bytes: [UInt8]
    /// The number of the encoder's sample that a decoder outputs first for the frame; negative for output before the
    /// first sample, because a frame needs the previous one.
    public let time: Int64
}

/// Encodes sound to AAC-LC (ISO/IEC 14496-3) with libavcodec's own encoder.
///
/// Stereo at 48 kHz and 128 kbit/s takes 1.5 % of a core. Owns the libavcodec encoder. Not thread-safe.
public final class AACEncoder {
    /// The samples of each channel in a frame.
    public static let frameCount = 1024

    /// The rate and the channels of the output, in which the frames' times count.
    public let output: SampleLayout

    private let handle: UnsafeMutablePointer<shim_aac_encoder>
    private let converter: SampleConverter
    /// Samples that are not a whole frame yet.
    private var pending: [Float] = []
    /// The samples of each channel that libavcodec has been given.
    private var given: Int64 = 0

    /// Opens an encoder of samples of `input`, which become `output` first.
    ///
    /// - Throws: `failed` if libswresample can't convert the samples, or if libavcodec opens no encoder for `output`.
    public init(from input: SampleLayout, to output: SampleLayout, bitRate: BitRate) throws(AudioCodingError) {
        guard let converter = SampleConverter(from: input, to: output) else {
            throw .failed(call: "swr_init", reason: "\(output.rate) Hz can't be made of \(input.rate) Hz")
        }
        _ = LibAVMessage.isKept
        LibAVMessage.clear()
        var code: Int32 = 0
        guard
            let handle = shim_aac_open(
                Int32(clamping: output.channelCount), Int32(clamping: output.rate), Int64(bitRate.bitsPerSecond), &code)
        else { throw .failed(call: "avcodec_open2", reason: LibAVMessage.first(code: code)) }
        self.handle = handle
        self.converter = converter
        self.output = output
    }

    deinit {
        shim_aac_free(handle)
    }

    /// AudioSpecificConfig (ISO/IEC 14496-3 section 1.6.2.1), which a decoder needs before the first frame.
    public var configuration: [UInt8] {
        var count: Int32 = 0
        let bytes = shim_aac_configuration(handle, &count)
        return Array(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
    }

    /// Encodes any number of interleaved samples of the input.
    ///
    /// - Returns: The frames that are complete, each 1,024 to 2,048 samples after its last one was given.
    /// - Throws: `failed` with libavcodec's reason.
    public func encode(_ samples: UnsafeBufferPointer<Float>) throws(AudioCodingError) -> [AACFrame] {
        LibAVMessage.clear()
        pending += converter.convert(samples)
        let size = Self.frameCount * output.channelCount
        var frames: [AACFrame] = []
        var taken = 0
        while pending.count - taken >= size {
            let code = pending[taken..<taken + size].withUnsafeBufferPointer {
                shim_aac_send(handle, $0.baseAddress, given)
            }
            if code < 0 { throw .failed(call: "avcodec_send_frame", reason: LibAVMessage.first(code: code)) }
            given += Int64(Self.frameCount)
            taken += size
            try receive(into: &frames)
        }
        pending.removeFirst(taken)
        return frames
    }

    private func receive(into frames: inout [AACFrame]) throws(AudioCodingError) {
        while true {
            var bytes: UnsafePointer<UInt8>?
            var (count, time): (Int32, Int64) = (0, 0)
            let code = shim_aac_receive(handle, &bytes, &count, &time)
            if code == shim_AVERROR_EAGAIN { return }
            if code < 0 { throw .failed(call: "avcodec_receive_packet", reason: LibAVMessage.first(code: code)) }
            frames.append(AACFrame(bytes: Array(UnsafeBufferPointer(start: bytes, count: Int(count))), time: time))
        }
    }
}
