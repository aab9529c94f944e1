import CSwResample

/// The rate and the channels of interleaved samples.
public struct SampleLayout: Hashable, Sendable {
    /// The samples of one channel in a second: 8,000 to 192,000.
    public var rate: Int
    /// 1 to 8.
    public var channelCount: Int

    /// Creates the layout of interleaved samples: `rate` per second of each of `channelCount` channels.
    public init(rate: Int, channelCount: Int) {
        self.rate = rate
        self.channelCount = channelCount
    }
}

/// Makes interleaved samples of another rate or of other channels with libswresample.
///
/// What all channels have is as loud in the output as in the input. Of more than two channels, some are quieter in it,
/// so that no sum exceeds 1.
///
/// Owns the resampler. Not thread-safe.
public final class SampleConverter {
    /// The layout of the samples that are given.
    public let input: SampleLayout
    /// The layout of the samples that are returned.
    public let output: SampleLayout

    private let handle: OpaquePointer
    private var room: UnsafeMutableBufferPointer<Float>

    /// Nil without memory, or if libswresample doesn't support the layouts.
    public init?(from input: SampleLayout, to output: SampleLayout) {
        guard
            let handle = shim_swr_open(
                Int32(clamping: input.channelCount), Int32(clamping: input.rate), Int32(clamping: output.channelCount),
                Int32(clamping: output.rate))
        else { return nil }
        self.handle = handle
        self.input = input
        self.output = output
        room = .allocate(capacity: 0)
    }

    /// A converter of a decoder's output, stored as `format`, a number of libavutil's.
    init?(from input: SampleLayout, storedAs format: Int32, to output: SampleLayout) {
        guard
            let handle = shim_swr_open_stored(
                format, Int32(clamping: input.channelCount), Int32(clamping: input.rate),
                Int32(clamping: output.channelCount), Int32(clamping: output.rate))
        else { return nil }
        self.handle = handle
        self.input = input
        self.output = output
        room = .allocate(capacity: 0)
    }

    deinit {
        shim_swr_free(handle)
        room.deallocate()
    }

    /// The number of input samples of each channel that are not in the output yet, at the input's rate.
    public var delay: Int { Int(swr_get_delay(handle, Int64(input.rate))) }

    /// Forgets the samples that were held back: later samples don't continue them.
    public func reset() {
        // It has succeeded with the same settings before.
        _ = swr_init(handle)
    }

    /// Converts samples.
    ///
    /// - Returns: The output, which is valid until the next call.
    public func convert(_ samples: UnsafeBufferPointer<Float>) -> UnsafeBufferPointer<Float> {
        guard let first = samples.baseAddress else { return UnsafeBufferPointer(start: nil, count: 0) }
        return convert(samples.count / input.channelCount) { out, room, count in
            shim_swr_convert(handle, out, room, first, count)
        }
    }

    /// Converts samples as a decoder stores them, `frameCount` of each channel.
    func convert(
        planes: UnsafePointer<UnsafePointer<UInt8>?>, frameCount: Int
    ) -> UnsafeBufferPointer<Float> {
        convert(frameCount) { out, room, count in shim_swr_convert_stored(handle, out, room, planes, count) }
    }

    private func convert(
        _ frameCount: Int, by step: (UnsafeMutablePointer<Float>, _ room: Int32, _ count: Int32) -> Int32
    ) -> UnsafeBufferPointer<Float> {
        let frames = Int32(clamping: frameCount)
        let maxCount = Int(max(0, swr_get_out_samples(handle, frames)))
        if room.count < maxCount * output.channelCount {
            room.deallocate()
            room = .allocate(capacity: maxCount * output.channelCount)
        }
        guard let out = room.baseAddress else { return UnsafeBufferPointer(start: nil, count: 0) }
        let count = step(out, Int32(clamping: maxCount), frames)
        return UnsafeBufferPointer(start: out, count: max(0, Int(count)) * output.channelCount)
    }
}
