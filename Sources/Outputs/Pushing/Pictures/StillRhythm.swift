import MediaFiles
import MediaTypes

/// When a push asks for one more picture of a screen that stands still, and when that is to be a key frame.
///
/// A player at the other end shows nothing before it has analysed some twenty pictures after a key frame, and its start
/// isn't reported. So these pictures are sent close together after each key frame, and few until the next one: a player
/// starts as soon as at 25 fps, for a third of the pictures.
struct StillRhythm {
    /// Most players look at 21 pictures.
    private static let beginning = (length: Interval.milliseconds(1200), spacing: Interval.milliseconds(40))
    /// Where times are in milliseconds, FFmpeg looks at 41. An encoder of the push may make 24 per second at most.
    private static let coarseBeginning = (
        length: Interval.milliseconds(2000), spacing: Interval.milliseconds(9), count: 44
    )
    /// There, a player that joins later waits for the next key frame and the 41 pictures after it: less than 3 s.
    private static let coarseKeyFrames = Interval.milliseconds(2000)
    /// ffmpeg and ffplay look at five seconds of SRT, and of RTMP without sound, which they count in pictures: 150 of
    /// 30 a second. Players that are connected when the push begins don't wait that long.
    private static let first = (length: Interval.milliseconds(3200), spacing: Interval.milliseconds(12))
    /// Each one is also the occasion to ask for the next key frame.
    private static let spacing = Interval.milliseconds(500)
    /// After this time without a picture, the screen stands still.
    private static let stillness = Interval.milliseconds(200)
    /// A server that gets no picture for long considers the push dead, and a dead server is noticed only when something
    /// is sent.
    private static let maxSilence = Interval.seconds(5)

    /// Whether viewers may start to watch at any time. A file is watched later.
    private let isWatched: Bool
    /// Whether the stream's times are in milliseconds.
    private let isCoarse: Bool
    /// Whether a key frame has come.
    private var hasBegun = false
    private var firstUntil = MonotonicTime.zero
    private var beginsUntil = MonotonicTime.zero
    /// When a key frame is asked for, if the screen stands still then.
    private var keyFrameDue = MonotonicTime.distantFuture
    /// How many pictures have come since the last key frame.
    private var count = 0
    /// When the next picture is asked for, if none has come.
    private(set) var due: MonotonicTime

    /// A rhythm whose first picture is still to come, which is asked for in other ways.
    init(isWatched: Bool, isCoarse: Bool, at now: MonotonicTime) {
        self.isWatched = isWatched
        self.isCoarse = isCoarse
        due = now + Self.maxSilence
    }

    /// A picture has come.
    mutating func came(isKeyFrame: Bool, at now: MonotonicTime) {
        if isKeyFrame {
            if !hasBegun { firstUntil = now + Self.first.length }
            beginsUntil = now + (isCoarse ? Self.coarseBeginning.length : Self.beginning.length)
            if isCoarse, isWatched { keyFrameDue = now + Self.coarseKeyFrames }
            count = 0
            hasBegun = true
        }
        count += 1
        if isCoarse, count >= Self.coarseBeginning.count { beginsUntil = now }
        wait(from: now)
    }

    /// A receiver has connected, and watches from now on.
    mutating func connected() { hasBegun = false }

    /// Counts the time from now on: a picture has been asked for.
    mutating func wait(from now: MonotonicTime) {
        let beginning = isCoarse ? Self.coarseBeginning.spacing : Self.beginning.spacing
        let spacing = now < firstUntil ? Self.first.spacing : now < beginsUntil ? beginning : Self.spacing
        due = now + (isWatched ? spacing : Self.maxSilence)
        // A key frame that doesn't arrive is requested again with the next picture.
        if keyFrameDue > now, due + Self.stillness > keyFrameDue { due = max(keyFrameDue, now + Self.stillness) }
    }

    /// Whether the request made now is for a key frame.
    func wantsKeyFrame(at now: MonotonicTime) -> Bool { now >= keyFrameDue }
}

extension MediaContainer {
    /// Whether viewers may start to watch while the stream is written.
    var isWatched: Bool {
        switch self {
        case .flash, .transportStream, .rtsp, .hls: true
        case .mp4, .matroska, .fragmentedMP4, .clusteredMatroska: false
        }
    }
}
