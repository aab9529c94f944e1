import Glibc
import LinkTransport
import SecureTransport

/// A room's token in a file that only its user can read. It keeps links valid when a host is restarted.
public struct TokenFile: Sendable {
    /// The file's path.
    public let path: String

    private static let lengths = 16...128
    private static let limit = 256

    /// A file that the user has named. Its folder must exist.
    public init(path: String) {
        self.path = path
    }

    /// The file for a room at these addresses, in `$XDG_STATE_HOME/screenrelay`, or else in
    /// `~/.local/state/screenrelay`. Nil if there is no home, or if an address has port 0: a link to a random port is
    /// valid only once.
    public init?(room: String, listen: [String], environment: (String) -> String? = Self.variable) {
        guard !room.isEmpty else { return nil }
        self.init(named: "\(room)@", listen: listen, environment: environment)
    }

    /// Like `init(room:listen:environment:)`, for a file whose name is `beginning` and the addresses.
    init?(named beginning: String, listen: [String], environment: (String) -> String?) {
        guard !listen.isEmpty, !listen.contains(where: { $0.hasSuffix(":0") }) else { return nil }
        guard let folder = StateFolder.path(environment) else { return nil }
        // A name or an address may contain a slash, but a file name may not.
        let address = String(listen.joined(separator: "+").map { $0 == "/" ? "_" : $0 })
        path = "\(folder)/\(beginning)\(address).token"
    }

    /// A variable of the process's environment.
    public static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Returns the token in the file. If there is no file, or `isNew` is true, writes a new token to it.
    ///
    /// - Parameters:
    ///   - isNew: whether a new token replaces the one in the file.
    ///   - makesFolders: whether missing folders are created, with access for this user only.
    /// - Throws: ``TokenFileError`` if the file can't be read or written, if others can read it, or if its content
    ///   isn't a token.
    public func token(isNew: Bool = false, makesFolders: Bool = false) throws(TokenFileError) -> String {
        let file = PrivateFile(path: path)
        if !isNew, let kept = try kept(in: file) { return kept }
        if makesFolders { StateFolder.makeFolders(of: path) }
        // Of hosts that start at once, one draws it. The others find it here.
        let lock = file.lock()
        defer { lock?.release() }
        if !isNew, let kept = try kept(in: file) { return kept }
        let token = HostConfiguration.randomToken()
        try file.write(token + "\n")
        return token
    }

    /// Returns the token in the file, and never writes one.
    ///
    /// - Throws: ``TokenFileError`` as `token` does, and `notReadable` if there is no file.
    public func kept() throws(TokenFileError) -> String {
        guard let token = try kept(in: PrivateFile(path: path)) else { throw .notReadable(path: path, errno: ENOENT) }
        return token
    }

    /// Nil if there is no file.
    private func kept(in file: PrivateFile) throws(TokenFileError) -> String? {
        guard var bytes = try file.read(limit: Self.limit)?[...] else { return nil }
        while let last = bytes.last, last == 10 || last == 13 { bytes.removeLast() }
        let isToken = Self.lengths.contains(bytes.count) && bytes.allSatisfy(Self.isAllowed)
        guard isToken else { throw .notAToken(path: path) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// Why a token can't be read from a file or kept in it.
public enum TokenFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file can't be opened or read.
    case notReadable(path: String, errno: Int32)
    /// The file can't be written.
    case notWritable(path: String, errno: Int32)
    /// It is a directory, a device or the like.
    case notAFile(path: String)
    /// Others can read the file, or it belongs to another user.
    case notPrivate(path: String)
    /// The file doesn't contain a token.
    case notAToken(path: String)

    public var description: String {
        switch self {
        case .notReadable(let path, let code): "\(path) can't be read: \(String(cString: strerror(code)))"
        case .notWritable(let path, let code): "\(path) can't be written: \(String(cString: strerror(code)))"
        case .notAFile(let path): "\(path) is not a file"
        case .notPrivate(let path):
            "\(path) is not private to this user: others could learn the secret in it; run chmod 600 on it, or remove it"
        case .notAToken(let path):
            "\(path) contains no token, which is one line of 16 to 128 letters, digits, '-' and '_'; --new-token writes one"
        }
    }
}
