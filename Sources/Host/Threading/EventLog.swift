/// Where a stage tells what happened, in one line a person can act on. May be called on any thread.
///
/// A value, so that a library's user decides where lines go; the programs send them to standard error.
public struct EventLog: Sendable {
    /// How much a line matters.
    public enum Level: Int, Sendable, Comparable {
        /// Something was lost or refused that a user should know of.
        case error
        /// Something went wrong and was mended.
        case warning
        /// What an operator follows a run by.
        case info
        /// What a developer needs.
        case debug

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private let write: @Sendable (Level, String) -> Void

    /// A log that hands each line to `write`.
    public init(_ write: @escaping @Sendable (Level, String) -> Void) {
        self.write = write
    }

    /// A log that nobody reads.
    public static let silent = EventLog { _, _ in }

    public func error(_ line: String) { write(.error, line) }
    public func warning(_ line: String) { write(.warning, line) }
    public func info(_ line: String) { write(.info, line) }
    public func debug(_ line: @autoclosure () -> String) { write(.debug, line()) }
}
