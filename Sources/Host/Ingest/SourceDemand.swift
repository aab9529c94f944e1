import CaptureLink
import MediaTypes

/// What is wanted of a track's source, and what it has been told of that: the difference is what it is told next.
///
/// A value without a lock: `TrackIngest` keeps it under its own.
struct SourceDemand {
    /// One thing that a source is told.
    enum Word: Equatable {
        case chroma(ChromaFormat)
        case bitRate(BitRate)
        case frameRate(FrameRate)
        case running(Bool)
    }

    /// How many watch.
    var viewers = 0
    /// How many wait for a single picture.
    var snapshots = 0
    /// Whether what the source sends is recorded.
    var isRecorded = false
    /// What the viewers' paths carry; nil until that is known.
    var rate: BitRate?
    /// What a person allows at most.
    var limits = SourceLimits()

    /// What the source was told last; nil where nothing yet.
    private var toldRate: BitRate?
    private var toldFrameRate: FrameRate?
    private(set) var toldRunning: Bool?
    /// The chroma format that it was told last, or that it began with.
    private var toldChroma = ChromaFormat.yuv444
    /// Since when the source runs; what came before shows the screen as it was when the source fell asleep.
    private(set) var runningSince: MonotonicTime?

    // What says "no limit" to a source that has been given one: more than any allows itself.
    private static let mostBits = BitRate(bitsPerSecond: 1_000_000_000)
    private static let mostPictures = FrameRate(framesPerSecond: 120)

    /// Whether the source is to run.
    var isWanted: Bool { viewers > 0 || snapshots > 0 || isRecorded }

    /// Another source has come: it has been told nothing, and finds the paths and the limits as they are.
    mutating func sourceCame() {
        toldRate = nil
        toldFrameRate = nil
        toldRunning = nil
        toldChroma = .yuv444
        runningSince = nil
    }

    /// What the source has to be told next, which counts as told then; nil where it knows all.
    ///
    /// - Parameter chroma: the format that all who watch can decode; nil where the source has no other than its own.
    mutating func nextWord(chroma: ChromaFormat?, now: @autoclosure () -> MonotonicTime) -> Word? {
        // First: a source that is woken shall begin in the right format.
        if let chroma, toldChroma != chroma {
            toldChroma = chroma
            return .chroma(chroma)
        }
        if let wantedRate, toldRate != wantedRate {
            toldRate = wantedRate
            return .bitRate(wantedRate)
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

    /// The bit rate that the source is to be told; nil where there is nothing to say.
    private var wantedRate: BitRate? {
        if let limit = limits.bitRate { return min(limit, rate ?? limit) }
        return rate ?? (toldRate == nil ? nil : Self.mostBits)
    }

    /// The same of the frame rate.
    private var wantedFrameRate: FrameRate? {
        limits.frameRate ?? (toldFrameRate == nil ? nil : Self.mostPictures)
    }
}
