public import RecordingFiles

extension Option {
    /// `--record FILE`, of `host`, `share` and `capture`.
    public static let record = Option(
        long: "record", value: .required("FILE"),
        help:
            "write the messages of the link with their times to this file, which must not exist yet; for 'screenrelay replay', "
            + "'inspect' and 'export'")
}

extension ExitCode {
    /// How a program ends that can't have the file it was told to read or write.
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
