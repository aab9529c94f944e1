import MediaTypes

/// When a reader of a track asks for its first frame again: it has asked once as it began, and none has arrived.
struct StartRequest {
    private static let interval = Interval.milliseconds(600)

    /// When it asks again; in the distant future once there is a frame.
    private(set) var deadline = MonotonicTime.distantFuture

    /// The reader begins, and has asked.
    mutating func begin(at now: MonotonicTime) { deadline = now + Self.interval }

    /// A frame has arrived.
    mutating func end() { deadline = .distantFuture }

    /// Returns whether the reader asks now; if so, it counts as having asked, and the next time is an interval later.
    mutating func takeDue(at now: MonotonicTime) -> Bool {
        guard now >= deadline else { return false }
        deadline = now + Self.interval
        return true
    }
}
