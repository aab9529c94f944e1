import MediaTypes

/// Whether a viewer is still there to get new frames. One that has vanished would get all of them until its consent has
/// run out, 30 s later.
///
/// Each kind of viewer reports at its own intervals, up to every 7.5 s (RFC 3550 section 6.2), so silence alone proves
/// nothing. A viewer that hasn't been heard for a second is asked by a STUN check, several times because some may be
/// lost, and gets no more frames if nothing at all has come from it a second and a round trip after that. It is asked
/// on, so that it gets frames again as soon as it is back.
///
/// Pure: belongs to its caller.
struct ViewerPresence {
    private static let patience = Interval.seconds(1)
    private static let answerTime = Interval.seconds(1)
    private static let interval = Interval.milliseconds(300)

    /// Since when it is being asked without a pause and without an answer; nil if it isn't.
    private var askedAt: MonotonicTime?
    private var lastQuestion = MonotonicTime.zero
    private var wasGone = false

    /// Whether the viewer gets frames.
    enum State {
        case present
        /// Being asked. It gets frames, but what its path is thought to carry means nothing.
        case doubted
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
        // What was asked before the last answer, or before a time without frames, isn't unanswered.
        if let asked = askedAt, asked <= lastHeard || now - lastQuestion > Self.answerTime, !wasGone { askedAt = nil }
        guard askedAt == nil || now - lastQuestion >= Self.interval else { return false }
        askedAt = askedAt ?? now
        lastQuestion = now
        return true
    }

    /// Whether the viewer, last heard at `lastHeard`, gets frames; `roundTripTime` is the last one measured.
    mutating func state(lastHeard: MonotonicTime, roundTripTime: Interval?, now: MonotonicTime) -> State {
        guard let asked = askedAt, asked > lastHeard else {
            defer { wasGone = false }
            return wasGone ? .returned : .present
        }
        // Questions go on while there are frames. One before a pause may have been lost, and proves nothing.
        let isAskedOn = now - lastQuestion < Self.answerTime
        wasGone = wasGone || isAskedOn && now - asked >= Self.answerTime + (roundTripTime ?? .zero)
        return wasGone ? .gone : .doubted
    }

    /// Notes that nothing may be sent to the viewer, because it has no path or no longer consents. It has returned when
    /// its state is asked for again.
    mutating func pathLost() { wasGone = true }
}
