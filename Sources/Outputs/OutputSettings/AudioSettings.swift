public import MediaTypes

/// How the sound of a track is re-encoded for an output: to AAC-LC (ISO/IEC 14496-3), which all services take.
public struct AudioSettings: Hashable, Sendable {
    /// 64 to 128 kbit/s.
    public var bitRate = BitRate(bitsPerSecond: 128_000)
    /// The samples of one channel in a second: 32,000, 44,100 or 48,000.
    public var sampleRate = 48_000
    /// 1 or 2.
    public var channelCount = 2

    /// Stereo at 48 kHz, as capture makes it, and 128 kbit/s.
    public init() {}

    /// Checks the limits.
    ///
    /// - Throws: ``OutputSettingsError`` with the first limit that is exceeded.
    public func check() throws(OutputSettingsError) {
        guard (64_000...128_000).contains(bitRate.bitsPerSecond) else {
            throw OutputSettingsError(
                "sound at \(bitRate.bitsPerSecond / 1000) kbit/s; there can be 64 to 128 kbit/s")
        }
        guard [32_000, 44_100, 48_000].contains(sampleRate) else {
            throw OutputSettingsError("sound of \(sampleRate) Hz; there can be 32000, 44100 or 48000")
        }
        guard (1...2).contains(channelCount) else {
            throw OutputSettingsError("sound of \(channelCount) channels; there can be 1 or 2")
        }
    }
}

extension VideoPreset {
    /// The sound that goes with the preset's pictures: stereo at 44.1 kHz, and 64, 96 or 128 kbit/s.
    public var sound: AudioSettings {
        var settings = AudioSettings()
        settings.sampleRate = 44_100
        settings.bitRate =
            switch self {
            case .low1, .low2, .low3: BitRate(bitsPerSecond: 64_000)
            case .medium1, .medium2, .medium3: BitRate(bitsPerSecond: 96_000)
            case .high1, .high2, .high3: BitRate(bitsPerSecond: 128_000)
            }
        return settings
    }
}
