import Glibc

/// Why a file can't be read or written.
public enum RecordingFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is no such file, or no such folder.
    case missing(path: String)
    /// A new file was wanted in a folder that isn't there.
    case folderMissing(path: String, folder: String)
    /// A new file was wanted, and this one is there already.
    case exists(path: String)
    /// The system doesn't let us.
    case permissionDenied(path: String)
    /// It is a folder.
    case isFolder(path: String)
    /// The disk is full, or our share of it is.
    case diskFull(path: String, written: UInt64)
    /// The file has the largest size that the system or its limits allow.
    case tooLarge(path: String, written: UInt64)
    /// The file is as large as its owner lets it become, and ends there in good order.
    case limitReached(path: String, limit: UInt64)
    /// The disk did not take in time what waited at the recording's end: so many bytes of messages.
    case stalled(path: String, missing: UInt64)
    /// It is a pipe or the like, in which one can't go to a place.
    case notSeekable(path: String)
    /// It is none of the files that we read; `reason` says what it looks like.
    case unrecognized(path: String, reason: String)
    /// Its owner wanted nothing to be read now.
    case interrupted(path: String)
    /// A system call failed; `code` is its errno.
    case system(call: String, path: String, code: Int32)

    /// What a program should do about it.
    public enum Kind: Sendable {
        /// The user named a file that can't be used so (exit 64, or 66 where an input isn't there).
        case usage
        /// An input isn't there (exit 66).
        case missing
        /// A file can't be created (exit 73).
        case cannotWrite
        /// Access is refused (exit 77).
        case permission
        /// An input has the wrong content (exit 65).
        case data
        /// Reading or writing failed: also on a full disk (exit 74).
        case system
    }

    /// What a program should do about it.
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
            "'\(path)' has reached its limit of \(limit) bytes"
        case .stalled(let path, let missing):
            "the disk does not take '\(path)': \(missing) bytes are missing at its end"
        case .notSeekable(let path): "\(Self.input(path)) is a pipe: it can only be read from its beginning"
        case .unrecognized(let path, let reason): "\(Self.input(path)) can't be read: \(reason)"
        case .interrupted(let path): "reading \(Self.input(path)) was interrupted"
        case .system(let call, let path, let code): "\(call) '\(path)' failed: \(String(cString: strerror(code)))"
        }
    }

    /// What is read, which `-` is another name of.
    private static func input(_ path: String) -> String { path == "-" ? "standard input" : "'\(path)'" }

    /// What is wrong, without the file's name.
    public var cause: String {
        switch self {
        case .missing: "it does not exist"
        case .folderMissing: "its folder does not exist"
        case .exists: "it exists already"
        case .permissionDenied: "no permission"
        case .isFolder: "it is a folder"
        case .diskFull: "the disk is full"
        case .tooLarge: "it may not grow further"
        case .limitReached: "it has reached its limit"
        case .stalled: "the disk does not take it"
        case .notSeekable: "it is a pipe"
        case .unrecognized(_, let reason): reason
        case .interrupted: "reading it was interrupted"
        case .system(let call, _, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }

    /// The same error, of a file that has so many whole bytes.
    func after(_ written: UInt64) -> RecordingFileError {
        switch self {
        case .diskFull(let path, _): .diskFull(path: path, written: written)
        case .tooLarge(let path, _): .tooLarge(path: path, written: written)
        default: self
        }
    }

    /// The error that `code` stands for, of a `call` on `path`.
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

/// Runs a system call again while signals interrupt it; the one place where errno becomes a thrown value.
@discardableResult
func systemCall<Value: SignedInteger>(
    _ name: String, _ path: String, _ call: () -> Value
) throws(RecordingFileError) -> Value {
    while true {
        let value = call()
        if value >= 0 { return value }
        let code = errno
        if code != EINTR { throw RecordingFileError(call: name, path: path, code: code) }
    }
}
