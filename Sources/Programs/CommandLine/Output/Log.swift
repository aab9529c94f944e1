public import Threading

extension EventLog {
    /// Logs to standard error, one line for each message: `screenrelay[12:03:04.567] warning: ...`.
    ///
    /// The time is the local time of day. Lines of several threads don't mix, and writing doesn't block.
    public static func standardError(
        program: String, level: Level = .info, output: LineWriter = .standardError
    ) -> EventLog {
        EventLog(upTo: level) { level, line in
            let time = WallClock.now.preciseTimeOfDay
            output.write(printable("\(program)[\(time)] \(level.rawValue): \(line)"), as: level)
        }
    }

    /// The option `--log`. Its value is read as a ``Level`` by `.choice`.
    public static func option(default level: Level) -> Option {
        Option(
            long: "log", value: .required("LEVEL"),
            help: "how much to log to standard error: error, warning, info or debug", default: level.rawValue,
            choices: Level.allCases.map(\.rawValue)
        ).under(.output)
    }
}

extension EventLog.Level {
    /// The beginning of a line that gives it this level in the systemd journal (sd-daemon(3), syslog(3)).
    var journalPrefix: String {
        switch self {
        case .error: "<3>"
        case .warning: "<4>"
        case .info: "<6>"
        case .debug: "<7>"
        }
    }
}
