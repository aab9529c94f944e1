/// The least value of the recent past: of at least one span and at most two. It stores two numbers, whatever it is fed.
struct WindowedMinimum {
    private let span: Int64
    private var current = Double.infinity
    private var previous = Double.infinity
    private var since: Int64?

    /// Remembers values for `span` nanoseconds.
    init(span: Int64) {
        self.span = span
    }

    /// The least value; infinite if there is none.
    var value: Double { min(current, previous) }

    /// Adds a value that was measured at `time`, nanoseconds on any one clock.
    mutating func add(_ value: Double, at time: Int64) {
        if let since, time &- since < span {
            if value < current { current = value }
            return
        }
        // After a pause, what was measured before it is too old.
        let isRecent = since.map { time &- $0 < span &* 2 } ?? false
        previous = isRecent ? current : .infinity
        current = value
        since = time
    }

    /// Forgets all values.
    mutating func reset() {
        current = .infinity
        previous = .infinity
        since = nil
    }
}
