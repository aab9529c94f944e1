/// Who draws a room's pointer: the pictures for all who watch, or each page for itself.
///
/// A core: the audience and the time go in, a decision comes out; no thread, no clock, no I/O.
public struct PointerPolicy: Sendable {
    /// With more pages than this a message for each motion costs more than drawing the pointer once.
    public static let mostPages = 100
    /// With fewer than this the pointer goes apart again: the space between keeps one who comes and goes from switching it.
    public static let fewPages = 90
    /// The shortest time between two changes, in microseconds: each costs a picture.
    public static let pause = 500_000

    /// What the decision is made from.
    public struct Audience: Sendable, Equatable {
        /// Whether the source can leave the pointer out and tell where it is.
        public var hasPointerSource = false
        /// Our pages: they can draw a pointer.
        public var pages = 0
        /// Who can't: players, plain SkyRTC clients, readers such as recordings.
        public var plainReaders = 0

        /// Nobody, and a source that draws.
        public init() {}
    }

    /// Whether pictures are to carry the pointer.
    public private(set) var isDrawn = true
    /// When a change is due that had to wait (microseconds); nil while none is.
    public private(set) var due: Int?

    private var lastChange: Int?

    /// Drawn, until something better is known.
    public init() {}

    /// Decides anew for `audience` at `now`, microseconds of any clock that doesn't run back.
    ///
    /// - Returns: whether ``isDrawn`` has changed. A change that comes too soon after the last waits until ``due``.
    public mutating func decide(for audience: Audience, at now: Int) -> Bool {
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
        return isDrawn ? audience.pages >= Self.fewPages : audience.pages > Self.mostPages
    }
}
