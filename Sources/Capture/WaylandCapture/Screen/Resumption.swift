import Clocks
import MediaTypes

/// When to ask a compositor for a picture again, after pictures are needed again and until one arrives.
///
/// PipeWire 0.3.65 loses a picture that was on its way as pictures were no longer needed, and then also the first ones
/// after that. A compositor paints each only once, so that it has to be asked for another. It is asked to stop before,
/// and to go on a little later. A slow one is given more time with each attempt.
struct Resumption {
    /// What to do next.
    enum Step {
        /// Nothing before ``nextStep``.
        case wait
        /// The compositor is to stop, or to go on.
        case stop, goOn
        /// The compositor has had enough time.
        case giveUp
    }

    /// When there is something to do.
    private(set) var nextStep: MonotonicTime
    private let end: MonotonicTime
    private var patience = firstPatience
    private var hasStopped = false

    private static let firstPatience = Interval.milliseconds(150)
    /// How long the compositor is stopped.
    private static let pause = Interval.milliseconds(50)
    private static let timeout = Interval.seconds(3)

    /// Begins at `now`, when the compositor was asked to go on.
    init(at now: MonotonicTime) {
        nextStep = now + Self.firstPatience
        end = now + Self.timeout
    }

    /// Returns what is to be done at `now`, and counts it as done.
    mutating func step(_ now: MonotonicTime) -> Step {
        guard nextStep <= now else { return .wait }
        if hasStopped {
            hasStopped = false
            patience = patience + patience
            nextStep = min(end, now + patience)
            return .goOn
        }
        if end <= now { return .giveUp }
        hasStopped = true
        nextStep = now + Self.pause
        return .stop
    }
}
