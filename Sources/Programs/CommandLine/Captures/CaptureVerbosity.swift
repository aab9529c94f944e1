public import Threading

/// How much a capture logs: the levels of an event log, and `rate`.
public enum CaptureVerbosity: String, CaseIterable, Sendable {
    case error, warning, info, debug
    /// Every decision of the rate control, and everything else as at level info.
    case rate

    /// The level of everything but the rate control.
    public var level: EventLog.Level { EventLog.Level(rawValue: rawValue) ?? .info }

    /// The option `--log` of programs that have a capture. Its value is read as a ``CaptureVerbosity`` by `.choice`.
    public static func option(default level: EventLog.Level) -> Option {
        Option(
            long: "log", value: .required("LEVEL"),
            help:
                "the log level on standard error: error, warning, info or debug; or rate, which is info and every "
                + "decision of the rate control",
            default: level.rawValue, choices: allCases.map(\.rawValue)
        ).under(.output)
    }
}
