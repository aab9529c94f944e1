public import MediaTypes

/// Decides how the pointer of a room is drawn: into the pictures for all viewers, or by each page itself.
///
/// A pure core: the audience and the time go in, and a decision comes out. It has no thread, no clock and no I/O.
public struct PointerPolicy: Sendable {
    /// Above this number of pages, sending a message for each motion costs more than drawing the pointer into the
    /// pictures.
    public static let maxPages = 100
    /// Below this number of pages, the pages draw the pointer again. The gap to ``maxPages`` provides hysteresis: one
    /// viewer who comes and goes doesn't switch it back and forth.
    public static let fewPages = 90
    /// The shortest time between two changes. Each change costs a picture.
    public static let pause = Interval.milliseconds(500)

    /// The facts that the decision is based on.
    public struct Audience: Sendable, Equatable {
        /// Whether the source can leave the pointer out of its pictures and report its position instead.
        public var hasPointerSource = false
        /// The number of our own pages, which can draw a pointer.
        public var pages = 0
        /// The number of readers that can't draw one: players, plain SkyRTC clients, and others such as recordings.
        public var plainReaders = 0

        /// Creates an empty audience, with a source that draws the pointer itself.
        public init() {}
    }

    /// Whether the pictures should contain the pointer.
    public private(set) var isDrawn = true
    /// When a postponed change is due; nil if none is pending.
    public private(set) var due: MonotonicTime?

    private var lastChange: MonotonicTime?

    /// Creates a policy that draws the pointer into the pictures until the first decision.
    public init() {}

    /// Decides for `audience` at `now`.
    ///
    /// - Returns: whether ``isDrawn`` has changed. A change that would follow the last one too soon is postponed until
    ///   ``due``.
    public mutating func decide(for audience: Audience, at now: MonotonicTime) -> Bool {
        due = nil
        guard wish(for: audience) != isDrawn else { return false }
        if let lastChange, now - lastChange < Self.pause {
            due = lastChange + Self.pause
            return false
        }
        isDrawn.toggle()
        lastChange = now
        return true
    }

    private func wish(for audience: Audience) -> Bool {
        guard audience.hasPointerSource, audience.plainReaders <= 0 else { return true }
        return isDrawn ? audience.pages >= Self.fewPages : audience.pages > Self.maxPages
    }
}
