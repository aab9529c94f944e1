import MediaTypes

/// The least value of the recent past: of at least one span and at most two. It stores two values, whatever it is fed.
struct WindowedMinimum {
    private let span: Interval
    private var current: Interval?
    private var previous: Interval?
    private var since: Int64?

    /// Remembers values for `span`.
    init(span: Interval) {
        self.span = span
    }

    /// The least value; nil if there is none.
    var value: Interval? {
        guard let current, let previous else { return current ?? previous }
        return min(current, previous)
    }

    /// Adds a value that was measured at `time`, nanoseconds on any one clock.
    mutating func add(_ value: Interval, at time: Int64) {
        if let since, let current, time &- since < span.nanoseconds {
            if value < current { self.current = value }
            return
        }
        // After a pause, earlier measurements are too old.
        let isRecent = since.map { time &- $0 < span.nanoseconds &* 2 } ?? false
        previous = isRecent ? current : nil
        current = value
        since = time
    }

    /// Forgets all values.
    mutating func reset() {
        current = nil
        previous = nil
        since = nil
    }
}
