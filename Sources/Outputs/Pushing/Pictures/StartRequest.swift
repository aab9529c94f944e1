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

    /// Whether the reader asks now.
    mutating func isDue(at now: MonotonicTime) -> Bool {
        guard now >= deadline else { return false }
        deadline = now + Self.interval
        return true
    }
}
