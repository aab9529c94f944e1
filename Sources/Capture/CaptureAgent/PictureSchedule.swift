import MediaTypes

/// When the next picture may be taken, and when to look whether there is something to take.
///
/// A change is taken as soon as its paint has settled, which after a rest (two periods without a change) takes a little
/// longer; from then on at most one picture a period, on a steady beat.
struct PictureSchedule {
    /// The least time between two pictures.
    var period: Interval
    private let keepAlive: Interval
    private var earliest = MonotonicTime.zero
    private var keepAliveDue = MonotonicTime.zero
    private var refinementEarliest = MonotonicTime.zero
    /// The rate has no room for a picture before then.
    private var heldUntil = MonotonicTime.zero
    /// When the first change came that no picture has yet.
    private var changedSince: MonotonicTime?
    /// Whether that needs no settling: something else has kept the picture back for longer than a paint takes.
    private var isWhole = false
    /// When the last change was taken.
    private var lastChange = MonotonicTime.zero

    /// A program draws a line of text, a menu or a scrolled page by several requests: so long they are collected before the
    /// first picture after a rest. Below the 4 ms that are promised, as the timer and the scheduler need some of that.
    static let settling = Interval(nanoseconds: 2_500_000)

    /// The same in motion: a program that draws a picture in two or three pieces is not shown with one of them missing. Short,
    /// as each picture that is waited for is later by that.
    static let settlingInMotion = Interval.milliseconds(1)

    /// So long after a change something counts as moving.
    private static let motionLasts = Interval.milliseconds(200)

    init(period: Interval, keepAlive: Interval) {
        self.period = period
        self.keepAlive = keepAlive
    }

    /// What speaks for a picture.
    struct Reasons {
        /// A picture is wanted whether or not something changed.
        var isForced: Bool
        /// Something has changed that no picture has yet.
        var hasChange: Bool
        /// When a part of the picture may be made finer.
        var refinement = MonotonicTime.distantFuture
        /// When to look for changes because nobody tells of them.
        var poll = MonotonicTime.distantFuture
    }

    /// When there will be something to do, if nothing else happens.
    func due(_ reasons: Reasons) -> MonotonicTime {
        var time = max(keepAliveDue, earliest)
        if reasons.isForced { time = min(time, max(earliest, heldUntil)) }
        if reasons.hasChange { time = min(time, changeDue) }
        time = min(time, max(reasons.refinement, refinementEarliest))
        return min(time, max(reasons.poll, earliest))
    }

    /// Something has changed, and that was noticed at `now`.
    mutating func noticedChange(at now: MonotonicTime) {
        if changedSince == nil { changedSince = now }
    }

    private var changeDue: MonotonicTime {
        let soonest = max(earliest, heldUntil)
        guard let changedSince, !isWhole else { return soonest }
        let isMoving = changedSince < lastChange + period * 2
        return max(soonest, changedSince + (isMoving ? Self.settlingInMotion : Self.settling))
    }

    /// Whether what has changed may be taken at `now`.
    func isChangeDue(_ now: MonotonicTime) -> Bool { now >= changeDue }

    /// Whether a picture has to be sent at `now` even if nothing changed.
    func isKeepAliveDue(_ now: MonotonicTime) -> Bool { now >= keepAliveDue }

    /// Whether a picture may be made finer at `now`, given when that was due.
    func isRefinementDue(_ due: MonotonicTime, _ now: MonotonicTime) -> Bool { now >= max(due, refinementEarliest) }

    /// By how much a picture taken at `now` comes later because its change had to settle.
    func settled(at now: MonotonicTime) -> Interval {
        guard let changedSince, !isWhole else { return .zero }
        return max(.zero, now - max(changedSince, earliest, heldUntil))
    }

    /// A picture was taken, because something had changed or because one was wanted.
    mutating func took(at now: MonotonicTime) {
        if changedSince != nil { lastChange = now }
        changedSince = nil
        isWhole = false
        // On the beat where we keep it, a little late as we may be; else a new one begins.
        let isOnBeat = now >= earliest && now - earliest <= period / 2
        earliest = (isOnBeat ? earliest : now) + period
        keepAliveDue = now + keepAlive
    }

    /// A picture was taken that shows nothing new, beside the beat.
    mutating func sentStill(at now: MonotonicTime) {
        keepAliveDue = now + keepAlive
    }

    /// A part of the picture was made finer.
    mutating func refined(at now: MonotonicTime) {
        // While something else moves there is always a bit that has just come to rest: collected, it costs fewer pictures.
        refinementEarliest = now + (now - lastChange < Self.motionLasts ? Self.motionLasts : period)
        keepAliveDue = now + keepAlive
    }

    /// The rate has no room for what has changed before `time`.
    mutating func hold(until time: MonotonicTime) { heldUntil = time }

    /// The rate has no room for anything finer before `time`.
    mutating func holdRefinement(until time: MonotonicTime) { refinementEarliest = time }

    /// Nothing had changed. `earliest` stays: what is drawn from now on is taken at once, unless asking again would turn in
    /// circles.
    mutating func foundNothing(at now: MonotonicTime, mayAskAgainAtOnce: Bool) {
        changedSince = nil
        isWhole = false
        if !mayAskAgainAtOnce { earliest = max(earliest, now + period) }
    }

    /// Whether the rate has no room for what has changed at `now`.
    func isHeld(_ now: MonotonicTime) -> Bool { now < heldUntil }

    /// What kept pictures back holds no longer: the rate has changed.
    mutating func release() {
        heldUntil = .zero
        refinementEarliest = .zero
    }

    /// The time since the first change counts no longer as its settling: something else kept the picture back.
    mutating func forgetChange() { changedSince = nil }

    /// What has changed had to wait for something else: it is taken as soon as it may be, before anything is made finer.
    mutating func noticedWholeChange(at now: MonotonicTime) {
        noticedChange(at: now)
        isWhole = true
    }

    /// What is wanted by name is taken at once.
    mutating func reset() {
        earliest = .zero
        changedSince = nil
        isWhole = false
        release()
    }
}
