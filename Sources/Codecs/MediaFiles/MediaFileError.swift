import CLibAV
import Glibc

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
        default:
            var buffer = [CChar](repeating: 0, count: 128)
            av_strerror(code, &buffer, buffer.count)
            let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            self = .rejected(reason: text)
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
