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
    public init(file path: String) throws(SocketError) {
        let file: SmallFile
        do throws(SmallFileError) {
            file = try SmallFile(secret: path, limit: Self.lengths.upperBound + 3)
        } catch {
            throw Self.problem(error, with: path)
        }
        let count = file.bytes.count
        var bytes = file.bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let token = LinkToken(bytes) else {
            throw .tokenFile(
                path: path,
                reason: count > Self.lengths.upperBound
                    ? "a capture key has at most \(Self.lengths.upperBound) bytes"
                    : "a capture key has at least \(Self.lengths.lowerBound) bytes, and this one \(bytes.count)",
                kind: .data)
        }
        self = token
    }

    private static func problem(_ error: SmallFileError, with path: String) -> SocketError {
        switch error {
        case .notReadable(let code):
            .tokenFile(path: path, reason: String(cString: strerror(code)), kind: kind(code))
        case .notRegular: .tokenFile(path: path, reason: "it is no regular file", kind: .usage)
        case .openToOthers:
            .tokenFile(path: path, reason: "other users may read or write it; run chmod 600 on it", kind: .permission)
        case .foreign(let user): .tokenFile(path: path, reason: "it belongs to user \(user)", kind: .permission)
        }
    }

    /// The category of the error when a token's file can't be opened.
    private static func kind(_ code: Int32) -> SocketError.Kind {
        switch code {
        case EACCES, EPERM: .permission
        case ENOENT, ENOTDIR: .missing
        default: .system
        }
    }
}
