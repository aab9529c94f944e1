import MediaTypes

/// Decides when an unrequested key frame is due. Any other key frame counts as well.
struct ScheduledKeyFrames {
    private let interval: KeyFrameInterval?
    private var last = MonotonicTime.zero
    private var frames = 0

    /// Without an interval, no key frame is ever due.
    init(_ interval: KeyFrameInterval?) { self.interval = interval }

    /// When the next key frame is due if no frame is sent until then.
    var due: MonotonicTime {
        switch interval {
        case .time(let time): last + time
        // The next frame, whenever that is.
        case .frames, nil: .distantFuture
        }
    }

    /// Whether the next frame, at `now`, has to be a key frame.
    func isDue(_ now: MonotonicTime) -> Bool {
        if case .frames(let count) = interval { frames >= count } else { now >= due }
    }

    /// Notes that a frame was sent.
    mutating func sent(isKeyFrame: Bool, at now: MonotonicTime) {
        frames += 1
        guard isKeyFrame else { return }
        (last, frames) = (now, 1)
    }
}
