import MediaTypes

/// When the next picture may be taken, and when to look whether there is something to take.
///
/// After a rest the first change is taken at once; from then on at most one picture a period, on a steady beat.
struct PictureSchedule {
    /// The least time between two pictures.
    var period: Interval
    private let keepAlive: Interval
    private var earliest = MonotonicTime.zero
    private var nextLook = MonotonicTime.zero
    private var restBegins = MonotonicTime.zero
    private var keepAliveDue = MonotonicTime.zero

    /// A look costs a round trip. After a second without a change one comes only so often: a pointer that begins to move
    /// shows that much later at most.
    private static let restPeriod = Interval.milliseconds(100)
    private static let restAfter = Interval.seconds(1)

    init(period: Interval, keepAlive: Interval) {
        self.period = period
        self.keepAlive = keepAlive
    }

    /// What speaks for a picture.
    struct Reasons {
        /// A picture is wanted whether or not something changed.
        var isForced: Bool
        /// The server said that something was drawn.
        var isDamaged: Bool
        /// Nobody tells when the pointer moves: it has to be looked for.
        var looksForPointer: Bool
    }

    /// When there will be something to do, if nothing else happens.
    func due(_ reasons: Reasons) -> MonotonicTime {
        var time = max(keepAliveDue, earliest)
        if reasons.isForced || reasons.isDamaged { time = min(time, earliest) }
        if reasons.looksForPointer { time = min(time, max(nextLook, earliest)) }
        return time
    }

    /// Whether a picture has to be sent at `now` even if nothing changed.
    func isKeepAliveDue(_ now: MonotonicTime) -> Bool { now >= keepAliveDue }

    /// A picture was taken, because something had changed or because one was wanted.
    mutating func took(at now: MonotonicTime, isChange: Bool) {
        if isChange { restBegins = now + Self.restAfter }
        // On the beat where we keep it; a late picture starts a new one.
        earliest = max(earliest + period, now + period / 2)
        if earliest > now + period { earliest = now + period }
        nextLook = isAtRest(now) ? max(earliest, now + Self.restPeriod) : earliest
        keepAliveDue = now + keepAlive
    }

    /// Nothing had changed. `earliest` stays: what is drawn from now on is taken at once.
    mutating func foundNothing(at now: MonotonicTime, mayAskAgainAtOnce: Bool) {
        nextLook = now + (isAtRest(now) ? max(period, Self.restPeriod) : period)
        if !mayAskAgainAtOnce { earliest = max(earliest, now + period) }
    }

    private func isAtRest(_ now: MonotonicTime) -> Bool { now >= restBegins }

    /// The next picture is taken at once.
    mutating func reset() {
        earliest = .zero
        nextLook = .zero
        keepAliveDue = .zero
    }
}
