import MediaTypes

/// Whether a viewer is still there to get new frames. One that has vanished would get all of them until its consent has
/// run out, 30 s later.
///
/// Each kind of viewer reports at its own intervals, up to every 7.5 s (RFC 3550 section 6.2), so silence alone proves
/// nothing. A viewer that hasn't been heard for a second is asked by a consent check (RFC 7675), several times because
/// some may be lost, and gets no more frames if nothing at all has come from it a second after that. It is asked on,
/// so that it gets frames again as soon as it is back.
///
/// Pure: belongs to its caller.
struct ViewerPresence {
    private static let patience = Interval.seconds(1)
    private static let answerTime = Interval.seconds(1)
    private static let interval = Interval.milliseconds(300)

    /// When it was first asked of the times that it hasn't answered; nil if it wasn't asked since it was heard.
    private var askedAt: MonotonicTime?
    private var lastQuestion = MonotonicTime.zero
    private var wasGone = false

    /// Whether the viewer gets frames.
    enum State {
        case present
        /// Not heard since it was asked.
        case gone
        /// Heard again; it is present from now on.
        case returned
    }

    /// Whether to ask the viewer, last heard at `lastHeard`, as a new frame is to be sent to it.
    mutating func asks(lastHeard: MonotonicTime, now: MonotonicTime) -> Bool {
        guard now - lastHeard >= Self.patience else {
            askedAt = nil
            return false
        }
        if askedAt.map({ $0 <= lastHeard }) ?? false { askedAt = nil }
        guard askedAt == nil || now - lastQuestion >= Self.interval else { return false }
        askedAt = askedAt ?? now
        lastQuestion = now
        return true
    }

    /// Whether the viewer, last heard at `lastHeard`, gets frames.
    mutating func state(lastHeard: MonotonicTime, now: MonotonicTime) -> State {
        let isGone = askedAt.map { $0 > lastHeard && now - $0 >= Self.answerTime } ?? false
        defer { wasGone = isGone }
        return isGone ? .gone : wasGone ? .returned : .present
    }
}
