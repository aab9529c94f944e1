import MediaTypes

/// Whether a capture hangs: one that is told to run sends a picture each 2.5 s, also of a screen that stands still.
struct PeerSilence {
    /// How long it may be silent while it should run.
    let patience: Interval
    private var lastHeard = MonotonicTime.zero
    /// Since when the peer has been told to run; nil while it may be silent.
    private var runsSince: MonotonicTime?
    private var hasTold = false
    /// How late we may look at a silence that counts.
    private static let lateness = Interval.seconds(1)

    init(patience: Interval) {
        self.patience = patience
    }

    /// Something has come.
    mutating func heard(at now: MonotonicTime) {
        lastHeard = now
        hasTold = false
    }

    /// The peer is told to run, or that it may be silent.
    mutating func told(toRun runs: Bool, at now: MonotonicTime) {
        runsSince = runs ? runsSince ?? now : nil
    }

    /// Whether it hangs.
    func isTooLong(_ now: MonotonicTime) -> Bool {
        guard let runsSince else { return false }
        return now - max(lastHeard, runsSince) > patience
    }

    /// When its silence will be told; nil where it may be silent, or that was told.
    var deadline: MonotonicTime? {
        guard !hasTold, let runsSince else { return nil }
        // A moment later, where it is longer than the patience.
        return max(lastHeard, runsSince) + patience + .milliseconds(1)
    }

    /// Whether its silence is to be told now: true once.
    mutating func tellIfDue(_ now: MonotonicTime) -> Bool {
        guard let deadline, deadline <= now else { return false }
        if now - deadline > Self.lateness {
            // We have been stopped ourselves (Ctrl-Z, a machine that slept), and capture perhaps with us.
            lastHeard = now
            return false
        }
        hasTold = true
        return true
    }
}
