/// Sound as samples: interleaved, at 48 kHz, each from -1 to 1.
public struct AudioSamples: Hashable, Sendable {
    /// Of one second and one channel.
    public static let rate = 48_000

    /// 1 or 2.
    public var channelCount: Int
    /// A whole number of samples of each channel.
    public var samples: [Float]

    /// The given samples.
    public init(channelCount: Int, samples: [Float]) {
        self.channelCount = channelCount
        self.samples = samples
    }

    /// The samples of each channel.
    public var frameCount: Int { samples.count / max(1, channelCount) }
    /// The length of the sound.
    public var duration: Interval { ClockRate.audio.interval(of: Int64(frameCount)) }
}
