import MediaTypes

/// Detects a capture that hangs: one that is told to run sends a picture every 2.5 s, even of a screen that stands
/// still.
struct PeerSilence {
    /// How long it may be silent while it should run.
    let timeout: Interval
    private var lastHeard = MonotonicTime.zero
    /// Since when the peer has been told to run; nil while it may be silent.
    private var runsSince: MonotonicTime?
    private var hasTold = false
    /// If a check comes later than this, the silence doesn't count.
    private static let lateness = Interval.seconds(1)

    init(timeout: Interval) {
        self.timeout = timeout
    }

    /// Notes that something has arrived.
    mutating func heard(at now: MonotonicTime) {
        lastHeard = now
        hasTold = false
    }

    /// Notes that the peer was told to run, or that it may be silent.
    mutating func told(toRun runs: Bool, at now: MonotonicTime) {
        runsSince = runs ? runsSince ?? now : nil
    }

    /// Returns whether it hangs.
    func isTooLong(_ now: MonotonicTime) -> Bool {
        guard let runsSince else { return false }
        return now - max(lastHeard, runsSince) > timeout
    }

    /// When to report its silence; nil if it may be silent, or if that has been reported.
    var deadline: MonotonicTime? {
        guard !hasTold, let runsSince else { return nil }
        // Add a millisecond, so that the silence is then longer than the timeout.
        return max(lastHeard, runsSince) + timeout + .milliseconds(1)
    }

    /// Returns whether to report the silence now; true only once for each silence.
    mutating func tellIfDue(_ now: MonotonicTime) -> Bool {
        guard let deadline, deadline <= now else { return false }
        if now - deadline > Self.lateness {
            // This process was stopped itself (Ctrl-Z, or the machine slept), and perhaps the capture was, too.
            lastHeard = now
            return false
        }
        hasTold = true
        return true
    }
}
