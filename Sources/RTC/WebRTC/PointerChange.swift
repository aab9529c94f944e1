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
    /// The last change; nil before the first picture.
    private(set) var last: PointerChange?
    private var untold: [PointerChange] = []

    /// The picture that is sent next has the pointer, or has not.
    mutating func send(isDrawn: Bool, at timestamp: RTPTimestamp) {
        guard last?.isDrawn != isDrawn else { return }
        let change = PointerChange(isDrawn: isDrawn, timestamp: timestamp.rawValue)
        last = change
        untold.append(change)
    }

    /// What was not yet taken, oldest first.
    mutating func take() -> [PointerChange] {
        guard !untold.isEmpty else { return [] }
        defer { untold = [] }
        return untold
    }
}
