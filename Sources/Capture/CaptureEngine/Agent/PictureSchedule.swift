import MediaTypes

/// Decides when the next picture may be taken, and when to look whether there is something to take.
///
/// A change is taken as soon as its drawing has settled, which takes a little longer after a rest (two periods without
/// a change). There is room for one picture a period, and what one of them leaves unused is kept for the next.
struct PictureSchedule {
    /// The time between two pictures at the highest rate that was asked for.
    private(set) var period: Interval
    private let keepAlive: Interval
    /// When there is room for another picture.
    private(set) var earliest = MonotonicTime.zero
    private var keepAliveDue = MonotonicTime.zero
    private var refinementEarliest = MonotonicTime.zero
    /// The time before which the rate limit has no room for a picture.
    private var heldUntil = MonotonicTime.zero
    /// When the first change came that is in no picture yet.
    private var changedSince: MonotonicTime?
    /// Whether that change needs no settling, because something else has held the picture back for longer than drawing
    /// takes, or because it was painted as a whole.
    private var isWhole = false
    /// When a change was last taken.
    private var lastChange = MonotonicTime.zero

    /// The distance at which pictures may follow each other for long. A scene that paints once in each period would
    /// never get back what an extra picture, such as one for a recording, took from it, so this is a little less.
    var spacing: Interval { period - period / 32 }

    /// How long changes are collected before the first picture after a rest, because a program draws a line of text, a
    /// menu or a scrolled page by several requests, which arrive within a fraction of this.
    static let settling = Interval(nanoseconds: 1_500_000)

    /// How long changes are collected in motion, so that a picture that a program draws in two or three pieces isn't
    /// shown with one of them missing. It is short, because it delays every picture.
    static let settlingInMotion = Interval.microseconds(700)

    /// How long after a change the screen counts as moving.
    private static let motionLasts = Interval.milliseconds(200)

    init(period: Interval, keepAlive: Interval) {
        self.period = period
        self.keepAlive = keepAlive
    }

    /// The reasons to take a picture.
    struct Reasons {
        /// Whether a picture is wanted even if nothing has changed.
        var isForced: Bool
        /// Whether something has changed that is in no picture yet.
        var hasChange: Bool
        /// When a part of the picture may be refined.
        var refinement = MonotonicTime.distantFuture
        /// When to look for changes, if the server doesn't report them.
        var poll = MonotonicTime.distantFuture
    }

    /// The time at which there will be something to do if nothing else happens.
    func due(_ reasons: Reasons) -> MonotonicTime {
        var time = max(keepAliveDue, earliest)
        if reasons.isForced { time = min(time, max(earliest, heldUntil)) }
        if reasons.hasChange { time = min(time, changeDue) }
        time = min(time, max(reasons.refinement, refinementEarliest))
        return min(time, max(reasons.poll, earliest))
    }

    /// Notes that a change was noticed at `now`.
    mutating func noticedChange(at now: MonotonicTime) {
        if changedSince == nil { changedSince = now }
    }

    private var changeDue: MonotonicTime {
        let soonest = max(earliest, heldUntil)
        guard let changedSince, !isWhole else { return soonest }
        let isMoving = changedSince < lastChange + period * 2
        return max(soonest, changedSince + (isMoving ? Self.settlingInMotion : Self.settling))
    }

    /// Whether a change may be taken at `now`.
    func isChangeDue(_ now: MonotonicTime) -> Bool { now >= changeDue }

    /// Whether a picture has to be sent at `now` even if nothing changed.
    func isKeepAliveDue(_ now: MonotonicTime) -> Bool { now >= keepAliveDue }

    /// Whether a refinement that was due at `due` may be made at `now`.
    func isRefinementDue(_ due: MonotonicTime, _ now: MonotonicTime) -> Bool { now >= max(due, refinementEarliest) }

    /// How much later a picture taken at `now` is because its change had to settle.
    func settled(at now: MonotonicTime) -> Interval {
        guard let changedSince, !isWhole else { return .zero }
        return max(.zero, now - max(changedSince, earliest, heldUntil))
    }

    /// How long a change has waited at `now`, for whatever reason; nil if none has been noticed.
    func waited(at now: MonotonicTime) -> Interval? { changedSince.map { max(.zero, now - $0) } }

    /// Notes that a picture was taken, because of a change or a request.
    mutating func took(at now: MonotonicTime) {
        if changedSince != nil { lastChange = now }
        keepAliveDue = now + keepAlive
        foundUnchanged(at: now)
    }

    /// Notes that what was painted looks as before. Finding that out takes the room of a picture, so that a change that
    /// follows after a rest is taken at once, but a program that paints the same again and again is looked at only once
    /// a period.
    mutating func foundUnchanged(at now: MonotonicTime) {
        changedSince = nil
        isWhole = false
        // A picture that is late, because the one before took long, leaves the next one as much of its period, so that
        // only this one is late: with a whole period from here on, each later one would wait as long after its paint.
        earliest = max(earliest, now - period) + spacing
    }

    /// Notes that a picture was taken that shows nothing new; it takes no room from one that does.
    mutating func sentStill(at now: MonotonicTime) {
        keepAliveDue = now + keepAlive
    }

    /// Notes that a part of the picture was refined.
    mutating func refined(at now: MonotonicTime) {
        // While something else moves, there is always a part that has just come to rest; collecting such parts takes
        // fewer pictures.
        refinementEarliest = now + (now - lastChange < Self.motionLasts ? Self.motionLasts : period)
        keepAliveDue = now + keepAlive
    }

    /// Changes the period, which holds from now on.
    mutating func change(to period: Interval, at now: MonotonicTime) {
        self.period = period
        earliest = min(earliest, now + period)
    }

    /// Notes that the rate limit has no room for changes before `time`, nor for a first picture.
    mutating func hold(until time: MonotonicTime, hasPicture: Bool) {
        heldUntil = time
        // There is nothing to keep alive.
        if !hasPicture { keepAliveDue = max(keepAliveDue, time) }
    }

    /// Notes that refinement has to wait until `time`.
    mutating func holdRefinement(until time: MonotonicTime) { refinementEarliest = time }

    /// Notes that nothing had changed. `earliest` stays as it is, so that whatever is drawn from now on is taken at
    /// once, unless asking again at once could become a busy loop.
    mutating func foundNothing(at now: MonotonicTime, mayAskAgainAtOnce: Bool) {
        changedSince = nil
        isWhole = false
        if !mayAskAgainAtOnce { earliest = max(earliest, now + period) }
    }

    /// Whether the rate limit has no room for changes at `now`.
    func isHeld(_ now: MonotonicTime) -> Bool { now < heldUntil }

    /// Forgets what held pictures back, because the rate has changed.
    mutating func release() {
        heldUntil = .zero
        refinementEarliest = .zero
    }

    /// Stops counting the time since the first change as settling, because something else held the picture back.
    mutating func forgetChange() { changedSince = nil }

    /// Notes that a change had to wait for something else, or was painted as a whole: it is taken as soon as possible,
    /// before any refinement.
    mutating func noticedWholeChange(at now: MonotonicTime) {
        noticedChange(at: now)
        isWhole = true
    }

    /// Makes a requested picture due at once.
    mutating func reset() {
        earliest = .zero
        changedSince = nil
        isWhole = false
        release()
    }
}
