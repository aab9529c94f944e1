public import RecordingFiles

/// The values of `--record` and `--record-limit`.
public struct RecordOptions: Sendable {
    /// The file to record to, or nil if nothing is recorded.
    public let path: String?
    /// The largest size of the file in bytes, of a host's files together, or nil for no limit.
    public let limit: UInt64?

    /// Reads the options.
    ///
    /// - Throws: ``UsageError`` if the size is invalid, or if it is given without a file.
    public init(_ options: ParsedOptions) throws(UsageError) {
        path = try options.value("record", as: .text)
        limit = try options.value("record-limit", as: .byteCount)
        if path == nil, let size = options.value("record-limit") {
            throw UsageError("--record-limit \(size): nothing is recorded; add --record FILE")
        }
    }

    /// Both options.
    public static let options: [Option] = [.record, .recordLimit]

    /// Both options of a program that may have several tracks.
    public static let hostOptions: [Option] = [
        Option.record.adding(
            "; each further track is recorded beside it, in a file named after room, track and time"),
        Option.recordLimit.adding("; further tracks' files count too"),
    ]
}

extension Option {
    /// `--record FILE`, of `host`, `share` and `capture`.
    public static let record = Option(
        long: "record", value: .required("FILE"),
        help:
            "record the messages and their times in this file, which must not exist yet, for 'screenrelay replay', "
            + "'inspect' and 'export'"
    ).under(.recording)

    /// `--record-limit SIZE`, used with `--record`.
    public static let recordLimit = Option(
        long: "record-limit", value: .required("SIZE"),
        help: "stop recording (sharing continues) before the file exceeds this size, for example 500M or 2G "
            + "(default: no limit)"
    ).under(.recording)

    fileprivate func adding(_ text: String) -> Option {
        var option = self
        option.help += text
        return option
    }
}

extension ExitCode {
    /// The exit code of a program that can't read or write a file that it was given.
    public init(_ kind: RecordingFileError.Kind) {
        switch kind {
        case .usage: self = .usage
        case .missing: self = .windowGone
        case .cannotWrite: self = .cannotWrite
        case .permission: self = .permission
        case .data: self = .badData
        case .system: self = .inputOutput
        }
    }
}
