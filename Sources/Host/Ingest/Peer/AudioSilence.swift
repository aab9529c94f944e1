import MediaTypes

/// Detects a capture of sound that hangs.
///
/// It may be silent for hours, so it is pinged: seldom, so that silence costs next to nothing, and at once if another
/// capture wants its place.
struct AudioSilence {
    /// How long an answer may take. It is asked once it has been silent for six times as long.
    let timeout: Interval
    private var lastHeard = MonotonicTime.zero
    /// Since when somebody listens; nil while nobody does.
    private var runsSince: MonotonicTime?
    /// When it was asked; nil if it has answered since.
    private var askedAt: MonotonicTime?
    private var hasTold = false
    private static let timeouts: Int64 = 6
    /// If a check comes later than this, the silence doesn't count.
    private static let lateness = Interval.seconds(1)

    init(timeout: Interval) {
        self.timeout = timeout
    }

    /// Notes that something has arrived.
    mutating func heard(at now: MonotonicTime) {
        (lastHeard, askedAt, hasTold) = (now, nil, false)
    }

    /// Notes that somebody listens, or nobody.
    mutating func told(toRun runs: Bool, at now: MonotonicTime) {
        runsSince = runs ? runsSince ?? now : nil
    }

    /// When to ask it, or to report that it hangs; nil if neither will be due.
    var deadline: MonotonicTime? {
        if let askedAt { return hasTold ? nil : askedAt + timeout }
        return runsSince.map { max(lastHeard, $0) + timeout * Self.timeouts }
    }

    /// Returns whether to ask it now, because it has been silent for long.
    mutating func asksIfDue(_ now: MonotonicTime) -> Bool {
        guard askedAt == nil, let deadline, deadline <= now else { return false }
        askedAt = now
        return true
    }

    /// Returns whether to ask it now, because another capture has come.
    mutating func asksForAnother(_ now: MonotonicTime) -> Bool {
        guard askedAt == nil else { return false }
        askedAt = now
        return true
    }

    /// Whether it hasn't answered in time.
    func isTooLong(_ now: MonotonicTime) -> Bool { askedAt.map { now - $0 >= timeout } ?? false }

    /// Returns whether to report now that it hangs; true only once for each silence.
    mutating func tellIfDue(_ now: MonotonicTime) -> Bool {
        guard !hasTold, let askedAt, askedAt + timeout <= now else { return false }
        if now - (askedAt + timeout) > Self.lateness {
            // This process was stopped itself, and perhaps the capture was, too.
            self.askedAt = now
            return false
        }
        hasTold = true
        return true
    }
}
