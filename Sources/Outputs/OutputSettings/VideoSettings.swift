public import MediaTypes

/// How the pictures of a track are re-encoded for an output.
public struct VideoSettings: Hashable, Sendable {
    /// What happens where the source has other proportions than the output.
    public enum Fitting: String, Hashable, Sendable {
        /// All of the source is there, with black bars beside it.
        case bars
        /// The output is filled, and the source's edges are left out.
        case crop
    }

    /// The size of the output, upright or across as the source is; nil for the source's own size.
    public var size: PictureSize?
    /// What happens if the source has another shape than `size`.
    public var fitting = Fitting.bars
    /// The most pictures a second, 1 to 60.
    public var framesPerSecond = 24
    /// The pictures from one key frame to the next.
    public var picturesPerKeyFrame = 72
    /// The bit rate, 64 kbit/s to 100 Mbit/s.
    public var bitRate = BitRate(bitsPerSecond: 1_024_000)
    /// The rate to which `bitRate` may fall while the path carries less; nil keeps it, and pictures are left out
    /// instead.
    public var lowestBitRate: BitRate?
    /// The pictures a second, 10 or more, to which `framesPerSecond` may fall while the path carries less than the
    /// lowest bit rate; nil keeps it.
    public var lowestFramesPerSecond: Int?
    /// The profile, and the level, if any, whose limits the output must keep.
    public var profileLevel = ProfileLevel.high

    /// Pictures of the source's size, at 24 a second and 1,024 kbit/s.
    public init() {}

    /// Checks all that can be checked before the source's size is known.
    ///
    /// - Throws: ``OutputSettingsError`` with the first limit that is exceeded.
    public func check() throws(OutputSettingsError) {
        guard (1...60).contains(framesPerSecond) else {
            throw OutputSettingsError("\(framesPerSecond) fps; there can be 1 to 60")
        }
        guard (1...600).contains(picturesPerKeyFrame) else {
            throw OutputSettingsError(
                "\(picturesPerKeyFrame) pictures from one key frame to the next; there can be 1 to 600")
        }
        guard (64_000...100_000_000).contains(bitRate.bitsPerSecond) else {
            throw OutputSettingsError("\(kilobits(bitRate)); there can be 64 kbit/s to 100 Mbit/s")
        }
        if let lowestBitRate, lowestBitRate > bitRate || lowestBitRate.bitsPerSecond < 64_000 {
            throw OutputSettingsError(
                "a lowest rate of \(kilobits(lowestBitRate)); there can be 64 kbit/s to \(kilobits(bitRate))")
        }
        if let lowestFramesPerSecond, lowestFramesPerSecond < 10 || lowestFramesPerSecond > framesPerSecond {
            throw OutputSettingsError(
                "a minimum of \(lowestFramesPerSecond) fps; it must be 10 or more, and at most "
                    + "\(framesPerSecond), the highest")
        }
        if let size { try check(size) }
        guard let limits = profileLevel.limits else { return }
        guard framesPerSecond <= limits.framesPerSecond else {
            throw exceeded("\(limits.framesPerSecond) fps", "\(framesPerSecond)")
        }
        guard bitRate <= limits.bitRate else { throw exceeded(kilobits(limits.bitRate), kilobits(bitRate)) }
    }

    /// Checks the size of the pictures, upright or across.
    ///
    /// - Throws: ``OutputSettingsError`` with the limit that the size exceeds.
    public func check(_ size: PictureSize) throws(OutputSettingsError) {
        guard min(size.width, size.height) >= 16, max(size.width, size.height) <= 8192 else {
            throw OutputSettingsError("pictures of \(size); there can be 16x16 to 8192x8192")
        }
        guard let limit = profileLevel.limits?.size else { return }
        let isWithin =
            max(size.width, size.height) <= max(limit.width, limit.height)
            && min(size.width, size.height) <= min(limit.width, limit.height)
        guard isWithin else { throw exceeded("\(limit)", "\(size)") }
    }

    private func exceeded(_ limit: String, _ wanted: String) -> OutputSettingsError {
        OutputSettingsError("\(profileLevel.rawValue) takes at most \(limit), not \(wanted)")
    }

    private func kilobits(_ rate: BitRate) -> String { "\(rate.bitsPerSecond / 1000) kbit/s" }

    /// The rates between which an encoder follows its path; nil if it keeps its rate.
    public var adaptation: (lowest: BitRate, highest: BitRate)? {
        guard lowestBitRate != nil || lowestFramesPerSecond != nil else { return nil }
        let pictures = lowestFramesPerSecond ?? framesPerSecond
        let lowest = (lowestBitRate ?? bitRate).bitsPerSecond * pictures / max(framesPerSecond, 1)
        return (BitRate(bitsPerSecond: lowest), bitRate)
    }

    /// What an encoder is set to so that it sends at `rate`: first its bit rate falls, and below the lowest one there
    /// are fewer pictures, each as large as before.
    public func pace(at rate: BitRate) -> (bitRate: BitRate, framesPerSecond: Int) {
        let floor = lowestBitRate ?? bitRate
        guard rate < floor else { return (rate, framesPerSecond) }
        let pictures = framesPerSecond * rate.bitsPerSecond / floor.bitsPerSecond
        return (floor, max(lowestFramesPerSecond ?? framesPerSecond, pictures))
    }

    /// The size of the output for a source of this size: upright if the source is, and with even sides.
    public func outputSize(for source: PictureSize) -> PictureSize {
        guard let size else { return PictureSize(width: source.width & ~1, height: source.height & ~1) }
        let (long, short) = (max(size.width, size.height) & ~1, min(size.width, size.height) & ~1)
        return source.width >= source.height
            ? PictureSize(width: long, height: short) : PictureSize(width: short, height: long)
    }
}

/// The usual settings for push services, by their names.
public enum VideoPreset: String, CaseIterable, Sendable {
    case low1, low2, low3, medium1, medium2, medium3, high1, high2, high3

    /// The settings that the preset's name stands for.
    public var settings: VideoSettings {
        let (width, height, profile, kilobits): (Int, Int, ProfileLevel, Int) =
            switch self {
            case .low1: (272, 480, .baseline, 128)
            case .low2: (272, 480, .baseline, 256)
            case .low3: (272, 480, .baseline, 512)
            case .medium1: (368, 640, .high, 512)
            case .medium2: (368, 640, .high, 768)
            case .medium3: (368, 640, .high, 1024)
            case .high1: (720, 1280, .high, 1024)
            case .high2: (720, 1280, .high, 1280)
            case .high3: (720, 1280, .high, 1536)
            }
        var settings = VideoSettings()
        settings.size = PictureSize(width: width, height: height)
        settings.profileLevel = profile
        settings.bitRate = BitRate(bitsPerSecond: kilobits * 1000)
        return settings
    }
}
