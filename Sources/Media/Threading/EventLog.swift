/// A log of events, each in one line that a person can act on. May be used from any thread.
///
/// The log is a value, so the user of the library decides where lines go; the programs send them to standard error. The
/// caller must keep secrets out, such as the token after a room name's comma.
public struct EventLog: Sendable {
    /// The severity of a line.
    public enum Level: String, CaseIterable, Comparable, Sendable {
        /// Something was lost or refused, and the user should know.
        case error
        /// Something went wrong and was recovered from.
        case warning
        /// Progress that an operator follows.
        case info
        /// Details for a developer.
        case debug

        public static func < (left: Level, right: Level) -> Bool {
            allCases.drop { $0 != left }.dropFirst().contains(right)
        }
    }

    private let level: Level
    private let output: @Sendable (Level, String) -> Void

    /// A log that hands each line to `output`, on the thread that writes it. Less important lines than those of `level`
    /// are neither written nor built.
    public init(upTo level: Level = .debug, _ output: @escaping @Sendable (Level, String) -> Void) {
        self.level = level
        self.output = output
    }

    /// A log that discards every line.
    public static let silent = EventLog { _, _ in }

    /// Writes a line at the level `error`.
    public func error(_ line: @autoclosure () -> String) { write(.error, line()) }
    /// Writes a line at the level `warning`.
    public func warning(_ line: @autoclosure () -> String) { write(.warning, line()) }
    /// Writes a line at the level `info`.
    public func info(_ line: @autoclosure () -> String) { write(.info, line()) }
    /// Writes a line at the level `debug`.
    public func debug(_ line: @autoclosure () -> String) { write(.debug, line()) }

    /// Writes a line at `lineLevel`, on the calling thread. The line is only built if the log's level includes it.
    public func write(_ lineLevel: Level, _ line: @autoclosure () -> String) {
        if lineLevel <= level { output(lineLevel, line()) }
    }
}
