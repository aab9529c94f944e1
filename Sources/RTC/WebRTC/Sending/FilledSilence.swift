import MediaTypes

/// When a server is sent silence in the place of sound that doesn't come, and where on the track's timeline it lies.
///
/// A source sends nothing while it is silent, muted or paused. Browsers don't mind, but servers do: some wait for the
/// first packet of each stream that they were offered, and leave out or end what doesn't come, and players that get the
/// stream from them by HLS wait for sound. A pure value without a clock.
struct FilledSilence {
    /// What a packet lasts.
    static let length = Interval.milliseconds(60)
    /// How much later than usual a packet may come before there is silence in its place.
    private static let patience = Interval.milliseconds(200)
    /// A loop that was late for longer makes up for nothing.
    private static let longestDelay = Interval.milliseconds(500)
    private static let ticks = ClockRate.audio.ticks(in: length)

    /// When the next packet of silence goes out.
    private(set) var due: MonotonicTime
    /// Where what was sent ends; nil before anything was.
    private var end: MediaTime?

    /// Begins with silence if `isNow`, and else after the first packet of sound.
    init(isNow: Bool, at now: MonotonicTime) {
        due = isNow ? now : .distantFuture
    }

    /// Takes the place of a packet of sound that came by `now`. Returns whether it is to be sent: not if there was
    /// silence in its place already.
    mutating func take(_ time: MediaTime, lasting duration: Interval, at now: MonotonicTime) -> Bool {
        due = now + Self.patience + Self.length
        guard end.map({ time >= $0 }) ?? true else { return false }
        end = time + ClockRate.audio.ticks(in: duration)
        return true
    }

    /// Where the silence begins that is sent at `now`; nil if none is due.
    ///
    /// - Parameter place: where the track is now.
    mutating func next(at now: MonotonicTime, place: MediaTime) -> MediaTime? {
        guard now >= due else { return nil }
        var start = end ?? place + -ClockRate.audio.ticks(in: Self.patience + Self.length)
        if now - due > Self.longestDelay {
            start = start + ClockRate.audio.ticks(in: now - due)
            due = now
        }
        end = start + Self.ticks
        due = due + Self.length
        return start
    }
}
