import Clocks
import MediaTypes

/// When to ask a compositor for a picture again, because none has arrived since pictures are needed again, or because
/// the last one was lost.
///
/// PipeWire 0.3.65 loses a picture that is on its way as the receiver pauses, and then also the first ones after that.
/// A compositor sends a picture only when something has changed, or when the receiver goes on. So it pauses, and goes
/// on a little later. A slow compositor is given more time with each attempt.
struct Resumption {
    /// What to do next.
    enum Step {
        /// Nothing before ``nextStep``.
        case wait
        /// The receiver is to pause, or to go on.
        case pause, goOn
        /// The compositor has had enough time.
        case giveUp
    }

    /// When there is something to do.
    private(set) var nextStep: MonotonicTime
    private let end: MonotonicTime
    private var patience = firstPatience
    private var isPaused = false
    /// Whether the receiver has paused at least once. Before that, nothing is lost by beginning again.
    private(set) var hasPaused = false

    private static let firstPatience = Interval.milliseconds(150)
    /// How long the receiver pauses.
    private static let pauseTime = Interval.milliseconds(50)
    private static let timeout = Interval.seconds(3)

    /// Begins at `now`, when a picture is missing.
    init(at now: MonotonicTime) {
        nextStep = now + Self.firstPatience
        end = now + Self.timeout
    }

    /// Returns what is to be done at `now`, and counts it as done.
    mutating func step(_ now: MonotonicTime) -> Step {
        guard nextStep <= now else { return .wait }
        if isPaused {
            isPaused = false
            patience = patience + patience
            // If the thread was busy, the compositor has its time nevertheless.
            nextStep = max(now + Self.firstPatience, min(end, now + patience))
            return .goOn
        }
        if end <= now { return .giveUp }
        (isPaused, hasPaused) = (true, true)
        nextStep = now + Self.pauseTime
        return .pause
    }
}
