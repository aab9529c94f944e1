public import CaptureLink
public import MediaTypes

/// The demands on a track's source, and the instructions last sent to it; the difference is the next instruction.
///
/// A part of ``Track``.
public struct SourceDemand: Sendable {
    /// One instruction to a source.
    public enum Word: Hashable, Sendable {
        case chroma(ChromaFormat)
        case bitRate(BitRate)
        /// The rate that the viewers' paths have been seen to carry.
        case carried(BitRate)
        case frameRate(FrameRate)
        case running(Bool)
    }

    /// How many viewers there are.
    var viewers = 0
    /// How many of them don't decode 4:4:4.
    var viewersWithout444 = 0
    /// How many requests wait for a single picture.
    var snapshots = 0
    /// Whether what the source sends is recorded.
    var isRecorded = false
    /// The bit rate that the viewers' network paths can carry; nil until that is known.
    var rate: BitRate?
    /// The rate that the viewers' paths have been seen to carry; 0 if it is unknown.
    var carried = BitRate(bitsPerSecond: 0)
    /// The share of its frames that the host can send to all viewers in time, in per cent. Below 100, the frame rate
    /// and the bit rate are lowered to this share, so that there are fewer frames, each as fine as before.
    var share = 100
    /// The limits that a person has set.
    var limits = SourceLimits()

    /// The instructions last sent to the source; nil if none was sent yet.
    private var toldRate: BitRate?
    private var toldCarried = BitRate(bitsPerSecond: 0)
    private var toldFrameRate: FrameRate?
    private(set) var toldRunning: Bool?
    /// The chroma format last sent to the source, or the one with which the source began.
    private var toldChroma = ChromaFormat.yuv444
    /// When the source began to run; earlier pictures show the screen as it was when the source paused.
    private(set) var runningSince: MonotonicTime?

    // These values lift a limit that the source was told before: they are higher than any limit that a source sets
    // itself.
    private static let maxBits = BitRate(bitsPerSecond: 1_000_000_000)
    private static let maxPictures = FrameRate(framesPerSecond: 120)
    /// The rates of a source that nobody has limited, for a share of them. A source that is started with a lower frame
    /// rate gets fewer frames only from a lower share on.
    private static let usualPictures = FrameRate(framesPerSecond: 30)
    private static let minBits = BitRate(bitsPerSecond: 1_000_000)

    /// Whether the source is to run.
    var isWanted: Bool { viewers > 0 || snapshots > 0 || isRecorded }

    /// Notes that another source is attached, which has no instructions yet; the bit rate and the limits stay as they
    /// are.
    mutating func sourceCame() {
        toldRate = nil
        toldCarried = BitRate(bitsPerSecond: 0)
        toldFrameRate = nil
        toldRunning = nil
        toldChroma = .yuv444
        runningSince = nil
    }

    /// Returns the next instruction for the source, and counts it as sent; nil if the source is up to date.
    ///
    /// - Parameter chroma: the format that all viewers can decode; nil if the source can't change its format.
    mutating func nextWord(chroma: ChromaFormat?, now: @autoclosure () -> MonotonicTime) -> Word? {
        // This comes first, so that a source that is woken begins in the right format.
        if let chroma, toldChroma != chroma {
            toldChroma = chroma
            return .chroma(chroma)
        }
        if let wantedRate, toldRate != wantedRate {
            toldRate = wantedRate
            return .bitRate(wantedRate)
        }
        if toldCarried != carried {
            toldCarried = carried
            return .carried(carried)
        }
        if let wantedFrameRate, toldFrameRate != wantedFrameRate {
            toldFrameRate = wantedFrameRate
            return .frameRate(wantedFrameRate)
        }
        guard toldRunning != isWanted else { return nil }
        toldRunning = isWanted
        if isWanted { runningSince = now() }
        return .running(isWanted)
    }

    /// The bit rate to tell the source; nil if there is nothing to tell.
    private var wantedRate: BitRate? {
        let wanted = limits.bitRate.map { min($0, rate ?? $0) } ?? rate
        guard share < 100 else { return wanted ?? (toldRate == nil ? nil : Self.maxBits) }
        // Without a limit, a source sends no more than the paths have carried.
        let most = min(wanted ?? .highest, max(carried, .usual))
        return max(BitRate(bitsPerSecond: most.bitsPerSecond * share / 100), min(most, Self.minBits))
    }

    /// The frame rate to tell the source; nil if there is nothing to tell.
    private var wantedFrameRate: FrameRate? {
        guard share < 100 else { return limits.frameRate ?? (toldFrameRate == nil ? nil : Self.maxPictures) }
        let most = UInt64((limits.frameRate ?? Self.usualPictures).millihertz)
        return FrameRate(millihertz: UInt32(most * UInt64(share) / 100))
    }
}

/// The limits that a person sets for a source; nil means that the source sets its own.
public struct SourceLimits: Hashable, Sendable {
    /// Pictures a second.
    public var frameRate: FrameRate?
    /// Bits a second, even if the viewers' network paths can carry more.
    public var bitRate: BitRate?

    /// Creates limits with these values.
    public init(frameRate: FrameRate? = nil, bitRate: BitRate? = nil) {
        self.frameRate = frameRate
        self.bitRate = bitRate
    }
}
