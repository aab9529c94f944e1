import Glibc
import LibAVMessages

/// The reason why a file could not be written.
public enum MediaFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The disk is full, or the user's quota is exceeded.
    case diskFull
    /// The system denies access to the file.
    case permissionDenied
    /// Another client publishes under this name at the server.
    case nameInUse
    /// The system has no memory left.
    case outOfMemory
    /// The track, the times or another input was rejected, or the system gave another reason.
    case rejected(reason: String)

    /// An error of libavformat. System errors are negated `errno` values (AVERROR).
    init(_ code: Int32) {
        switch -code {
        case ENOSPC, EDQUOT: self = .diskFull
        case EACCES, EPERM, EROFS: self = .permissionDenied
        case ENOMEM: self = .outOfMemory
        default: self = .rejected(reason: LibAVMessage.meaning(of: code))
        }
    }

    public var description: String {
        switch self {
        case .diskFull: "the disk is full"
        case .permissionDenied: "permission denied"
        case .nameInUse: "the stream name is in use"
        case .outOfMemory: "no memory left"
        case .rejected(let reason): reason
        }
    }
}

/// Throws the error for `code`, unless it means success.
func check(_ code: Int32) throws(MediaFileError) {
    if code < 0 { throw MediaFileError(code) }
}
