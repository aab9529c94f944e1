/// Logs to standard error, one line for each message: `screenrelay[12:03:04.567] warning: ...`.
///
/// The time is the local time of day. Any thread may write; lines don't mix, and writing doesn't block. The caller must
/// keep secrets out, such as the token after a room name's comma.
public struct Log: Sendable {
    /// How important a line is.
    public enum Level: String, CaseIterable, Comparable, Sendable {
        case error, warning, info, debug

        public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .error: 0
            case .warning: 1
            case .info: 2
            case .debug: 3
            }
        }
    }

    /// The program's name, at the start of each line.
    public let program: String
    /// Less important lines are not written.
    public let level: Level
    private let output: LineWriter

    /// A log to standard error.
    public init(program: String, level: Level = .info) {
        self.init(program: program, level: level, output: .standardError)
    }

    /// A log to `output`.
    public init(program: String, level: Level = .info, output: LineWriter) {
        self.program = program
        self.level = level
        self.output = output
    }

    /// Logs something that ends an operation or the program.
    public func error(_ message: @autoclosure () -> String) { write(.error, message) }
    /// Logs something that a user may have to act on.
    public func warning(_ message: @autoclosure () -> String) { write(.warning, message) }
    /// Logs something that a user may want to know.
    public func info(_ message: @autoclosure () -> String) { write(.info, message) }
    /// Logs something for developers. The message is not built if it isn't logged.
    public func debug(_ message: @autoclosure () -> String) { write(.debug, message) }

    /// The option `--log`. Its value is read as a ``Level`` by `.choice`.
    public static func option(default level: Level) -> Option {
        Option(
            long: "log", value: .required("LEVEL"),
            help: "how much to log to standard error: error, warning, info or debug", default: level.rawValue,
            choices: Level.allCases.map(\.rawValue))
    }

    private func write(_ lineLevel: Level, _ message: () -> String) {
        if lineLevel > level { return }
        let time = WallClock.now.preciseTimeOfDay
        output.write(printable("\(program)[\(time)] \(lineLevel.rawValue): \(message())"))
    }
}
