import MediaTypes
import RTP

/// From which picture on a session's pictures have the pointer drawn in them, or no longer have it.
public struct PointerChange: Sendable, Hashable {
    /// Whether the pointer is drawn from that picture on.
    public let isDrawn: Bool
    /// The picture's RTP time stamp in this session, as its packets carry it.
    public let timestamp: UInt32

    /// A change at the picture with that RTP time stamp.
    public init(isDrawn: Bool, timestamp: UInt32) {
        self.isDrawn = isDrawn
        self.timestamp = timestamp
    }
}

/// Watches which of the pictures that a session sends have the pointer drawn in them.
///
/// It goes by what is sent, not by what was published: a viewer who gets pictures anew after a loss gets them under time
/// stamps of its own. What isn't taken is bounded by the pictures of the track's cache.
struct PointerChanges: Sendable {
    /// How long a picture with which a change comes waits for the word of it. Sent together, about one change in ten reached
    /// Chromium 156's page on a busy machine of two cores only after its picture was on the screen; with this lead none of 300 did.
    static let lead = Interval.milliseconds(50)

    /// Whether somebody is told of changes; pictures wait for nobody else.
    var isWatched = false
    /// The last change; nil before the first picture.
    private(set) var last: PointerChange?
    /// When the picture that is held back may go; nil while none is.
    private(set) var heldUntil: MonotonicTime?
    private var untold: [PointerChange] = []

    /// Whether the picture that goes next, under `timestamp`, has to wait until ``heldUntil``.
    ///
    /// Not the session's first one, and none that is not the track's newest: who is catching up is not kept from it.
    mutating func holds(_ isDrawn: Bool, at timestamp: RTPTimestamp, isNewest: Bool, now: MonotonicTime) -> Bool {
        if let heldUntil {
            if now < heldUntil { return true }
            self.heldUntil = nil
        }
        guard last?.isDrawn != isDrawn else { return false }
        let isFirst = last == nil
        let change = PointerChange(isDrawn: isDrawn, timestamp: timestamp.rawValue)
        last = change
        untold.append(change)
        guard isWatched, isNewest, !isFirst else { return false }
        heldUntil = now + Self.lead
        return true
    }

    /// What was not yet taken, oldest first.
    mutating func take() -> [PointerChange] {
        guard !untold.isEmpty else { return [] }
        defer { untold = [] }
        return untold
    }
}
