import MediaTypes

/// Holds back the last packet of a picture until its samples are known, for a viewer that checks its pictures.
///
/// Pure: belongs to its caller.
struct SamplesWait: Sendable {
    /// How long a packet waits. The host decodes a frame within milliseconds of its arrival, unless it is behind.
    private static let timeout = Interval.milliseconds(100)
    /// How often to look for the samples.
    private static let interval = Interval.milliseconds(2)

    /// When to look for the samples again; nil if no packet waits for any.
    private(set) var heldUntil: MonotonicTime?
    private let viewerChecks: Bool
    /// Since when a packet waits; nil if none does.
    private var since: MonotonicTime?

    /// Holds nothing back unless `viewerChecks` is true.
    init(viewerChecks: Bool) { self.viewerChecks = viewerChecks }

    /// Whether the last packet of a picture with this check must wait until ``heldUntil``.
    mutating func holds(_ check: PictureCheck?, now: MonotonicTime) -> Bool {
        let isAwaited = check.map { $0.samples == nil } ?? false
        let since = since ?? now
        guard isAwaited, viewerChecks, now - since < Self.timeout else {
            (self.since, heldUntil) = (nil, nil)
            return false
        }
        (self.since, heldUntil) = (since, now + Self.interval)
        return true
    }
}
