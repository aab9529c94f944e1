package import MediaTypes

/// The waits between attempts to connect: 0.5 s, then twice as long each time, and at most 8 s.
package struct RetryPace: Sendable {
    private static let first = Interval.milliseconds(500)
    private static let longest = Interval.seconds(8)

    private var wait = RetryPace.first

    package init() {}

    /// The wait before the next attempt. It is a little random, because many viewers that lose one host must not
    /// reconnect all at once.
    package mutating func next() -> Interval {
        defer { wait = min(wait * 2, Self.longest) }
        return wait + Interval.milliseconds(Int64.random(in: 0...250))
    }

    /// Begins with the shortest wait again, after a success.
    package mutating func reset() { wait = Self.first }
}
