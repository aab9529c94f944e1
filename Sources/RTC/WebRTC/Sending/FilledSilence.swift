import MediaTypes

/// Decides when a server gets silence instead of missing audio, and where on the track's timeline.
///
/// A source sends nothing while it is silent, muted or paused. Browsers accept that, but some servers wait for the
/// first packet of each stream that they were offered, and drop the stream or end the session without one, and players
/// that get the stream from them over HLS wait for audio. A pure value without a clock.
struct FilledSilence {
    /// What a packet lasts.
    static let length = Interval.milliseconds(60)
    /// How late a packet may be at first before silence takes its place, and at most: HLS players wait that long.
    private static let fillDelay = (first: Interval.milliseconds(200), most: Interval.seconds(2))
    /// How much later than the latest packet so far another one may be.
    private static let margin = Interval.milliseconds(100)
    /// A loop that was late for longer makes up for nothing.
    private static let maxDelay = Interval.milliseconds(500)
    private static let ticks = ClockRate.audio.ticks(in: length)

    /// When the next packet of silence goes out.
    private(set) var due: MonotonicTime
    /// Where what was sent ends; nil before anything was.
    private var end: MediaTime?
    /// What ``fillDelay`` was when silence was sent, if that was sent last.
    private var filledAfter: Interval?
    /// How late a packet may be. It grows when silence has taken a packet's place: sources that are read over SRT or
    /// RTMP deliver audio in bursts, which a loaded machine or a slow path delays.
    private var fillDelay = Self.fillDelay.first

    /// Begins with silence if `isNow`, and else after the first packet of sound.
    init(isNow: Bool, at now: MonotonicTime) {
        due = isNow ? now : .distantFuture
    }

    /// Takes the place of a packet of sound that came by `now`. Returns whether it is to be sent: not if there was
    /// silence in its place already.
    mutating func take(_ time: MediaTime, lasting duration: Interval, at now: MonotonicTime) -> Bool {
        if let end, time < end {
            if let filledAfter {
                let late = filledAfter + ClockRate.audio.interval(of: end.ticks - time.ticks)
                fillDelay = min(max(fillDelay, late + Self.margin), Self.fillDelay.most)
            }
            due = now + fillDelay + Self.length
            return false
        }
        due = now + fillDelay + Self.length
        (end, filledAfter) = (time + ClockRate.audio.ticks(in: duration), nil)
        return true
    }

    /// Where the silence begins that is sent at `now`; nil if none is due.
    ///
    /// - Parameter place: where the track is now.
    mutating func next(at now: MonotonicTime, place: MediaTime) -> MediaTime? {
        guard now >= due else { return nil }
        var start = end ?? place + -ClockRate.audio.ticks(in: fillDelay + Self.length)
        if now - due > Self.maxDelay {
            start = start + ClockRate.audio.ticks(in: now - due)
            due = now
        }
        (end, filledAfter) = (start + Self.ticks, fillDelay)
        due = due + Self.length
        return start
    }
}
