import Glibc

/// The reason why a file can't be read or written.
public enum RecordingFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or its folder doesn't exist.
    case missing(path: String)
    /// A new file can't be created because its folder doesn't exist.
    case folderMissing(path: String, folder: String)
    /// A new file can't be created because a file with that name exists.
    case exists(path: String)
    /// The system denies access.
    case permissionDenied(path: String)
    /// The path is a folder.
    case isFolder(path: String)
    /// The disk is full, or the user's quota is exceeded.
    case diskFull(path: String, written: UInt64)
    /// The file has reached the largest size that the system or its limits allow.
    case tooLarge(path: String, written: UInt64)
    /// The file, or all files with its budget together, have reached the size limit that their owner set. It ends
    /// properly, or isn't created.
    case limitReached(path: String, limit: UInt64)
    /// At the end of the recording, the disk didn't accept the remaining data in time; `missing` bytes of messages are
    /// lost.
    case stalled(path: String, missing: UInt64)
    /// The file is a pipe or something similar, which doesn't support seeking.
    case notSeekable(path: String)
    /// The file has none of the supported formats; `reason` says what it looks like.
    case unrecognized(path: String, reason: String)
    /// The owner interrupted the read.
    case interrupted(path: String)
    /// A system call failed with the errno `code`.
    case system(call: String, path: String, code: Int32)

    /// The category of an error, which determines a program's exit code.
    public enum Kind: Sendable {
        /// The named file can't be used this way (exit 64, or 66 if an input doesn't exist).
        case usage
        /// An input doesn't exist (exit 66).
        case missing
        /// A file can't be created (exit 73).
        case cannotWrite
        /// Access is denied (exit 77).
        case permission
        /// An input has invalid content (exit 65).
        case data
        /// Reading or writing failed, for instance on a full disk (exit 74).
        case system
    }

    /// The category of the error.
    public var kind: Kind {
        switch self {
        case .missing: .missing
        case .exists, .folderMissing: .cannotWrite
        case .permissionDenied: .permission
        case .isFolder, .notSeekable: .usage
        case .unrecognized: .data
        case .diskFull, .tooLarge, .limitReached, .interrupted, .stalled, .system: .system
        }
    }

    public var description: String {
        switch self {
        case .missing(let path): "'\(path)' does not exist"
        case .folderMissing(_, let folder): "folder '\(folder)' does not exist; make it first"
        case .exists(let path): "'\(path)' exists already; choose another name, or remove it first"
        case .permissionDenied(let path): "no permission to use '\(path)'"
        case .isFolder(let path): "\(Self.input(path)) is a folder; a file is needed"
        case .diskFull(let path, let written):
            "the disk is full: '\(path)' ends after \(written) bytes, and is readable so far"
        case .tooLarge(let path, let written):
            "'\(path)' may not grow further: it ends after \(written) bytes, and is readable so far"
        case .limitReached(let path, let limit):
            "'\(path)' has no more room in the limit of \(limit) bytes"
        case .stalled(let path, let missing):
            "the disk does not take '\(path)': \(missing) bytes are missing at its end"
        case .notSeekable(let path): "\(Self.input(path)) is a pipe: it can only be read from its beginning"
        case .unrecognized(let path, let reason): "\(Self.input(path)) can't be read: \(reason)"
        case .interrupted(let path): "reading \(Self.input(path)) was interrupted"
        case .system(let call, let path, let code): "\(call) '\(path)' failed: \(String(cString: strerror(code)))"
        }
    }

    /// The name of an input in messages, where `-` stands for standard input.
    private static func input(_ path: String) -> String { path == "-" ? "standard input" : "'\(path)'" }

    /// A description without the file's name.
    public var cause: String {
        switch self {
        case .missing: "it does not exist"
        case .folderMissing: "its folder does not exist"
        case .exists: "it exists already"
        case .permissionDenied: "no permission"
        case .isFolder: "it is a folder"
        case .diskFull: "the disk is full"
        case .tooLarge: "it may not grow further"
        case .limitReached: "the limit is reached"
        case .stalled: "the disk does not take it"
        case .notSeekable: "it is a pipe"
        case .unrecognized(_, let reason): reason
        case .interrupted: "reading it was interrupted"
        case .system(let call, _, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }

    /// This error for a file that has `written` complete bytes.
    func after(_ written: UInt64) -> RecordingFileError {
        switch self {
        case .diskFull(let path, _): .diskFull(path: path, written: written)
        case .tooLarge(let path, _): .tooLarge(path: path, written: written)
        default: self
        }
    }

    /// Converts the errno `code` of `call` on `path` to an error.
    init(call: String, path: String, code: Int32) {
        self =
            switch code {
            case ENOENT, ENOTDIR: .missing(path: path)
            case EEXIST: .exists(path: path)
            case EACCES, EPERM, EROFS: .permissionDenied(path: path)
            case EISDIR: .isFolder(path: path)
            case ENOSPC, EDQUOT: .diskFull(path: path, written: 0)
            case EFBIG: .tooLarge(path: path, written: 0)
            case ESPIPE: .notSeekable(path: path)
            default: .system(call: call, path: path, code: code)
            }
    }
}

/// Calls `call` again while it is interrupted by signals. This is the only place where errno becomes a thrown error.
@discardableResult
func fileCall<Value: SignedInteger>(
    _ name: String, _ path: String, _ call: () -> Value
) throws(RecordingFileError) -> Value {
    while true {
        let value = call()
        if value >= 0 { return value }
        let code = errno
        if code != EINTR { throw RecordingFileError(call: name, path: path, code: code) }
    }
}
