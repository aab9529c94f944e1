/// A log of events, each in one line that a person can act on. May be used from any thread.
///
/// The log is a value, so the user of the library decides where lines go; the programs send them to standard error.
public struct EventLog: Sendable {
    /// The severity of a line.
    public enum Level: Int, Sendable, Comparable {
        /// Something was lost or refused, and the user should know.
        case error
        /// Something went wrong and was recovered from.
        case warning
        /// Progress that an operator follows.
        case info
        /// Details for a developer.
        case debug

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    let write: @Sendable (Level, String) -> Void

    /// A log that hands each line to `write`.
    public init(_ write: @escaping @Sendable (Level, String) -> Void) {
        self.write = write
    }

    /// A log that discards every line.
    public static let silent = EventLog { _, _ in }

    public func error(_ line: String) { write(.error, line) }
    public func warning(_ line: String) { write(.warning, line) }
    public func info(_ line: String) { write(.info, line) }
    public func debug(_ line: @autoclosure () -> String) { write(.debug, line()) }
}
