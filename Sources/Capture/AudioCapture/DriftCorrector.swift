import CSwResample

/// Makes sound at 48 kHz a little longer or shorter, without a click: libswresample with soft compensation.
///
/// Owns the resampler. Not thread-safe.
final class DriftCorrector {
    private let handle: OpaquePointer
    private let channelCount: Int
    private let output: UnsafeMutablePointer<Float>

    /// The most frames that `convert` accepts.
    static let frameLimit = Slot.frameCount
    /// The most frames in the output: the input, frames that the filter had held back, and the compensation.
    private static let roomCount = frameLimit + 256
    /// The compensation is set for so many frames, long before whose end it is set again: 10 s. One frame of them is 2
    /// ppm.
    static let distance: Int32 = 480_000
    /// The most that the length changes: 1000 ppm can't be heard.
    private static let limit = 1e-3

    /// Opens a resampler of interleaved samples.
    init(channelCount: Int) throws(AudioError) {
        guard let handle = shim_swr_new(Int32(clamping: channelCount), 48_000) else {
            throw .library(call: "swr_init")
        }
        self.handle = handle
        self.channelCount = channelCount
        output = .allocate(capacity: Self.roomCount * channelCount)
    }

    deinit {
        shim_swr_free(handle)
        output.deallocate()
    }

    /// The number of input frames that are not in the output yet, to a fraction of one.
    var delay: Double { Double(swr_get_delay(handle, 48_000_000)) / 1000 }

    /// Forgets the frames that were held back. The next output frame is the next input frame.
    func reset() {
        // It has succeeded with the same settings before.
        _ = swr_init(handle)
    }

    /// Makes the output longer than the input by `share` from now on: 0.0002 for 200 ppm; shorter if negative.
    func adjust(_ share: Double) {
        let bounded = max(-Self.limit, min(share, Self.limit))
        _ = swr_set_compensation(handle, Int32((bounded * Double(Self.distance)).rounded()), Self.distance)
    }

    /// Converts at most `frameLimit` frames.
    ///
    /// - Returns: The output frames, which are valid until the next call.
    func convert(_ samples: UnsafeBufferPointer<Float>) -> UnsafeBufferPointer<Float> {
        let frames = min(samples.count / channelCount, Self.frameLimit)
        let count = shim_swr_convert(handle, output, Int32(Self.roomCount), samples.baseAddress, Int32(frames))
        return UnsafeBufferPointer(start: output, count: max(0, Int(count)) * channelCount)
    }
}
