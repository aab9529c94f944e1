import MediaSessions
import MediaTypes
import RTP

/// Tracks which of the pictures that a session sends have the pointer drawn in them.
///
/// It is based on what is sent, not on what was published: a viewer who gets pictures again after a loss gets them with
/// timestamps of its own. The number of changes not yet taken is bounded by the pictures in the track's cache.
struct PointerChanges: Sendable {
    /// How long a picture with a change is held back after the notification of the change. When both were sent
    /// together, about one change in ten reached Chromium 156's page, on a busy machine with only two cores, after its
    /// picture was on the screen; with this lead, none of 300 did.
    static let lead = Interval.milliseconds(50)

    /// Whether a handler is notified of changes. Pictures are held back only in that case.
    var isWatched = false
    /// The last change; nil before the first picture.
    private(set) var last: PointerChange?
    /// The time until which the next picture is held back; nil if none is.
    private(set) var heldUntil: MonotonicTime?
    private var untold: [PointerChange] = []

    /// Whether the next picture, with `timestamp`, must wait until ``heldUntil``.
    ///
    /// The session's first picture never waits, nor does one with `isBacklog`, which was there when the session began
    /// and isn't the newest: a viewer that begins is not delayed.
    mutating func holds(_ isDrawn: Bool, at timestamp: RTPTimestamp, isBacklog: Bool, now: MonotonicTime) -> Bool {
        if let heldUntil {
            if now < heldUntil { return true }
            self.heldUntil = nil
        }
        guard last?.isDrawn != isDrawn else { return false }
        let isFirst = last == nil
        let change = PointerChange(isDrawn: isDrawn, timestamp: timestamp.rawValue)
        last = change
        untold.append(change)
        guard isWatched, !isBacklog, !isFirst else { return false }
        heldUntil = now + Self.lead
        return true
    }

    /// Removes and returns the changes not yet taken, oldest first.
    mutating func take() -> [PointerChange] {
        guard !untold.isEmpty else { return [] }
        defer { untold = [] }
        return untold
    }
}
