import Glibc

/// A secret in a file. Over TCP, capture and host prove to each other that they have it, without sending it.
public struct LinkToken: Sendable {
    /// The allowed lengths of a token in bytes.
    public static let lengths = 16...4096

    /// The token itself.
    public let bytes: [UInt8]

    /// Creates a token from bytes; nil if there are too few or too many.
    public init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Reads a token from a regular file that only its owner may access. A line break at its end is removed.
    ///
    /// - Throws: `tokenFile` with the reason.
    public init(file path: String) throws(LinkTransportError) {
        // Without O_NONBLOCK, opening a FIFO would block until it has a writer.
        let (number, code) = retryingInterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        if code != 0 {
            throw .tokenFile(
                path: path, reason: String(cString: strerror(code)), kind: Self.kind(code))
        }
        let file = FileDescriptor(owning: number)
        var status = stat()
        try systemCall("fstat", on: path) { fstat(number, &status) }
        if status.st_mode & S_IFMT != S_IFREG {
            throw .tokenFile(path: path, reason: "it is no regular file", kind: .usage)
        }
        if status.st_mode & 0o077 != 0 {
            throw .tokenFile(
                path: path, reason: "other users may read or write it; run chmod 600 on it", kind: .permission)
        }
        if status.st_uid != geteuid(), status.st_uid != 0 {
            throw .tokenFile(path: path, reason: "it belongs to user \(status.st_uid)", kind: .permission)
        }
        var bytes = [UInt8](repeating: 0, count: Self.lengths.upperBound + 3)
        var count = 0
        while count < bytes.count {
            let taken = try systemCall("read", on: path) {
                bytes.withUnsafeMutableBytes {
                    read(file.rawValue, $0.baseAddress.map { $0 + count }, $0.count - count)
                }
            }
            if taken == 0 { break }
            count += taken
        }
        bytes.removeSubrange(count...)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let token = LinkToken(bytes) else {
            throw .tokenFile(
                path: path,
                reason: count > Self.lengths.upperBound
                    ? "a token has at most \(Self.lengths.upperBound) bytes"
                    : "a token has at least \(Self.lengths.lowerBound) bytes, and this one \(bytes.count)",
                kind: .data)
        }
        self = token
    }

    /// The category of the error when a token's file can't be opened.
    private static func kind(_ code: Int32) -> LinkTransportError.Kind {
        switch code {
        case EACCES, EPERM: .permission
        case ENOENT, ENOTDIR: .missing
        default: .system
        }
    }
}
