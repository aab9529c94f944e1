import MediaTypes

/// What the host does while a media thread is overloaded: sources make fewer frames for all viewers, new viewers get
/// another thread or, if there is none, are refused, and the log says so. No viewer's session is ended.
///
/// Pure. A copy may be read on any thread.
struct LoopLoad: Sendable {
    /// Fewer frames would be of no use.
    private static let leastShare = 25
    /// Below this share of CPU time, a third more frames leave the thread below ``LoopLag/Limits/busyShare``.
    private static let restoringShare = 0.56
    /// After this time without an update there were no viewers, and so no load.
    private static let forgottenAfter = Interval.seconds(5)
    private static let lineInterval = Interval.seconds(60)
    /// The most that ``patience`` grows to.
    private static let mostPatience: Int64 = 16

    var lag: LoopLag
    /// The share of the frames that the thread can send in time, in per cent.
    private(set) var frameShare = 100
    private var updatedAt: MonotonicTime
    private var nextChange = MonotonicTime.zero
    /// When the share may be raised again, and when it was raised last; nil if it has been lowered since.
    private var nextRise = MonotonicTime.zero
    private var raisedAt: MonotonicTime?
    /// How many times longer than usual the share stays lowered: more each time that the thread was late soon after the
    /// share was raised. A source that makes more frames than expected would otherwise change its rate every few
    /// seconds, and be late after each change.
    private var patience: Int64 = 1
    private var nextLine = MonotonicTime.zero

    init(_ limits: LoopLag.Limits = LoopLag.Limits(), now: MonotonicTime) {
        lag = LoopLag(limits, now: now)
        updatedAt = now
    }

    /// Whether there are fewer frames now, and no room for another viewer on this thread.
    func isOverloaded(at now: MonotonicTime) -> Bool {
        frameShare < 100 && now - updatedAt < Self.forgottenAfter
    }

    /// Lowers the share while the thread is late, and raises it again once there is room. Called about once a second
    /// while there are viewers, or more often.
    mutating func update(now: MonotonicTime) {
        if now - updatedAt >= Self.forgottenAfter { (frameShare, raisedAt, patience) = (100, nil, 1) }
        updatedAt = now
        guard now >= nextChange else { return }
        if lag.isLate(at: now) {
            frameShare = max(Self.leastShare, frameShare * 3 / 4)
            // Longer than the last late turn counts, so that the effect shows.
            nextChange = now + lag.limits.duration * 3 / 2
            if let raisedAt {
                patience = now - raisedAt < lag.limits.duration * 5 ? min(patience * 2, Self.mostPatience) : 1
            }
            raisedAt = nil
            nextRise = now + lag.limits.duration * 3 / 2 * patience
        } else if frameShare < 100, lag.busyShare < Self.restoringShare, now >= nextRise {
            frameShare = min(100, (frameShare * 4 + 2) / 3)
            nextChange = now + lag.limits.duration * 5 / 2
            raisedAt = now
        }
    }

    /// The line for the log, once a minute at most while the thread is late; nil if none is due.
    mutating func takeLine(viewers: @autoclosure () -> Int, now: MonotonicTime) -> String? {
        guard lag.isLate(at: now), now >= nextLine else { return nil }
        nextLine = now + Self.lineInterval
        return "the host is late by \(lag.worst(at: now).milliseconds) ms for \(viewers()) viewers: their media thread "
            + "works \(Int(lag.busyShare * 100)) % of the time and takes no more, and sources make "
            + "\(frameShare) % of their frames"
    }
}
