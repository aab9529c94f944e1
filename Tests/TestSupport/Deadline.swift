import Glibc
public import MediaTypes

/// The error of a test that waited for something that did not happen in time.
public struct DeadlineMissed: Error, CustomStringConvertible {
    /// What was waited for, in words.
    public let what: String
    public var description: String { "deadline missed while waiting for \(what)" }

    public init(what: String) { self.what = what }
}

/// The time of CLOCK_MONOTONIC now.
public func now() -> MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}

/// Polls `condition` every few milliseconds until it returns a value, and throws if `limit` passes before that. `what`
/// is evaluated then.
public func eventually<Value>(
    _ what: @autoclosure () -> String, within limit: Interval = .seconds(90), _ condition: () throws -> Value?
) throws -> Value {
    let deadline = now() + limit
    while true {
        if let value = try condition() { return value }
        if now() > deadline { throw DeadlineMissed(what: what()) }
        poll(nil, 0, 5)
    }
}

/// Polls `condition` every few milliseconds until it holds, and throws if `limit` passes before that. `what` is
/// evaluated then.
public func eventually(
    _ what: @autoclosure () -> String, within limit: Interval = .seconds(90), holds condition: () throws -> Bool
) throws {
    let _: Void = try eventually(what(), within: limit) { try condition() ? () : nil }
}
