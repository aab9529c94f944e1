public import MediaTypes

/// Bounds how often the source is asked for an IDR: at most once in 500 ms for all who ask.
public struct KeyFramePolicy: Sendable {
    /// The least time between two requests to the source.
    public static let leastInterval = Interval.milliseconds(500)

    private var lastRequest: MonotonicTime?
    private var isPending = false

    /// A policy that has asked for nothing yet.
    public init() {}

    /// Someone wants an IDR.
    ///
    /// - Returns: whether the source is to be asked now. Where not, the wish is kept for ``isDue(now:)``.
    public mutating func want(now: MonotonicTime) -> Bool {
        isPending = true
        return isDue(now: now)
    }

    /// Whether a kept wish may go to the source now; if so, it counts as sent.
    public mutating func isDue(now: MonotonicTime) -> Bool {
        guard isPending else { return false }
        if let lastRequest, now - lastRequest < Self.leastInterval { return false }
        lastRequest = now
        isPending = false
        return true
    }

    /// An IDR came: every wish is fulfilled.
    public mutating func idrArrived() {
        isPending = false
    }
}
