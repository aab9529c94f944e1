import MediaTypes

/// How late and how busy the media thread is, measured once a turn with the times that it reads anyway, and with its
/// CPU time ten times a second at most.
///
/// What becomes ready during a turn waits for the turn's end. So a turn makes sessions late by the time that it works,
/// and by how late it began after its deadline.
///
/// Pure. A copy may be read on any thread.
struct LoopLag: Sendable {
    /// When the thread is too late.
    struct Limits: Sendable {
        /// A turn is late if it takes longer than this: at 30 frames per second, the next frame has come by then.
        var lag = Interval.milliseconds(50)
        /// Late turns count only while the thread takes at least this share of a processor. Otherwise its turns are
        /// long because there are many viewers, and it still keeps up with the frames, or because other programs take
        /// the processor, which fewer viewers wouldn't change.
        var busyShare = 0.75
        /// How long there must be late turns, and for how long the last one counts. A large key frame, or a hundred
        /// viewers that join at once, take less.
        var duration = Interval.seconds(2)
    }

    /// Late turns belong together if no more than this is between them. A single turn counts for no more either, so
    /// that a process that was stopped isn't taken for one that is overloaded.
    private static let longest = Interval.milliseconds(500)
    /// The time over which the share of work is averaged, in seconds.
    private static let span = 1.0
    private static let window = Interval.seconds(1)
    private static let sampling = Interval.milliseconds(100)

    let limits: Limits
    /// The share of a processor that the thread has taken, from 0 to 1: an exponentially weighted mean over a second.
    private(set) var busyShare = 0.0
    /// When that was measured last, and the thread's CPU time then.
    private var sampledAt: MonotonicTime
    private var sampledTime = Interval.zero
    /// When the last turn began, and when it ended.
    private var beganAt: MonotonicTime
    private var endedAt: MonotonicTime
    /// The deadline of the next turn, and how late the last one began after its own.
    private var due = MonotonicTime.distantFuture
    private var delay = Interval.zero
    /// The longest turn since the window began, and in the window before it.
    private var longestTurn = (now: Interval.zero, before: Interval.zero)
    private var windowBegan: MonotonicTime
    /// How long there have been late turns, and when the last one ended.
    private var lateTime = Interval.zero
    private var lastLateAt = MonotonicTime.zero
    private var lateUntil = MonotonicTime.zero

    /// A thread that begins its first turn now.
    init(_ limits: Limits = Limits(), now: MonotonicTime) {
        self.limits = limits
        beganAt = now
        endedAt = now
        windowBegan = now
        sampledAt = now
    }

    /// Whether the thread has been too late for some time, and isn't on time again.
    func isLate(at now: MonotonicTime) -> Bool { now < lateUntil }

    /// How late the last second's longest turn has made sessions, or one of the second before it; 0 if the thread has
    /// had no turn for some seconds.
    func worst(at now: MonotonicTime) -> Interval {
        now - endedAt >= Self.window * 3 ? .zero : max(longestTurn.now, longestTurn.before)
    }

    /// Notes that the thread has waited, and begins a turn.
    mutating func turnBegan(at now: MonotonicTime) {
        // A deadline that had passed when the last turn began was set to have another turn at once.
        delay = max(.zero, now - (due <= beganAt ? endedAt : due))
        beganAt = now
    }

    /// Notes that the turn ends, and that the next one is due at `next`, unless something comes before.
    /// `cpuTime` is the thread's since some time before the first turn.
    mutating func turnEnded(at now: MonotonicTime, next: MonotonicTime, cpuTime: @autoclosure () -> Interval) {
        let work = max(.zero, now - beganAt)
        let lag = work + delay
        if now - sampledAt >= Self.sampling { sample(cpuTime(), at: now) }
        if now - windowBegan >= Self.window {
            longestTurn = (.zero, now - windowBegan < Self.window * 2 ? longestTurn.now : .zero)
            windowBegan = now
        }
        longestTurn.now = max(longestTurn.now, lag)
        if lag > limits.lag, busyShare >= limits.busyShare { noteLateTurn(endedAt: now) }
        (endedAt, due) = (now, next)
    }

    private mutating func sample(_ time: Interval, at now: MonotonicTime) {
        let passed = (now - sampledAt).seconds
        let share = min(max((time - sampledTime).seconds / passed, 0), 1)
        busyShare += (share - busyShare) * passed / (Self.span + passed)
        (sampledAt, sampledTime) = (now, time)
    }

    private mutating func noteLateTurn(endedAt now: MonotonicTime) {
        if beganAt - lastLateAt > Self.longest { (lateTime, lastLateAt) = (.zero, beganAt) }
        lateTime = lateTime + min(now - lastLateAt, Self.longest)
        lastLateAt = now
        if lateTime >= limits.duration { lateUntil = now + limits.duration }
    }
}
