import CLinux
import Glibc

/// The content of a small file of the user's: settings, or a secret.
public struct SmallFile: Sendable {
    /// The file's first bytes.
    public let bytes: [UInt8]
    /// Whether nobody but this user and root can read or change the file.
    public let isPrivate: Bool

    /// Reads the first `limit` bytes of a file or a pipe, whose writer is waited for. Others may be able to read it,
    /// too: see `isPrivate`. Throws `notReadable`.
    public init(_ path: String, limit: Int) throws(SmallFileError) {
        try self.init(path, limit: limit, isSecret: false, Self.credentials)
    }

    /// Reads the first `limit` bytes of a regular file with a secret in it, which belongs to this user or to root, and
    /// which nobody else can read or change. Never waits. Throws `notReadable`, or `notRegular`, `openToOthers` or
    /// `foreign` for another kind of file.
    ///
    /// - Parameter credentials: the folder of this service's credentials; nil if there is none.
    public init(
        secret path: String, limit: Int, credentials: String? = Self.credentials
    ) throws(SmallFileError) {
        try self.init(path, limit: limit, isSecret: true, credentials)
    }

    /// The folder in which systemd passes credentials to this service (systemd.exec(5)); nil if there is none.
    public static var credentials: String? {
        getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private init(_ path: String, limit: Int, isSecret: Bool, _ credentials: String?) throws(SmallFileError) {
        // Without O_NONBLOCK, opening a pipe would block until it has a writer.
        let flags = O_RDONLY | O_CLOEXEC | (isSecret ? O_NONBLOCK | O_NOCTTY : 0)
        let (number, code) = retryingInterrupted { open(path, flags) }
        guard code == 0 else { throw .notReadable(errno: code) }
        let file = FileDescriptor(owning: number)
        var status = stat()
        let looking = retryingInterrupted { fstat(file.rawValue, &status) }
        guard looking.code == 0 else { throw .notReadable(errno: looking.code) }
        // An access control list lets this user read a credential, which shows as a right of root's group (acl(5)).
        // Anywhere else, that group may really have the right.
        let isCredential =
            credentials.map { path.hasPrefix($0 + "/") } == true && status.st_uid == 0 && status.st_gid == 0
            && status.st_mode & 0o7777 == 0o440
        let isOpen = status.st_mode & 0o077 != 0 && !isCredential
        let isForeign = status.st_uid != geteuid() && status.st_uid != 0
        if isSecret {
            guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
            if isOpen { throw .openToOthers }
            if isForeign { throw .foreign(user: status.st_uid) }
        }
        isPrivate = !isOpen && !isForeign
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < limit {
            let room = min(buffer.count, limit - bytes.count)
            let (count, code) = retryingInterrupted { read(file.rawValue, &buffer, room) }
            guard code == 0 else { throw .notReadable(errno: code) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        self.bytes = bytes
    }
}

/// Why a small file can't be used.
public enum SmallFileError: Error, Equatable, Sendable {
    /// The file can't be opened or read.
    case notReadable(errno: Int32)
    /// It is a directory, a device or the like.
    case notRegular
    /// Others may read or change the file.
    case openToOthers
    /// The file belongs to this user, who is neither us nor root.
    case foreign(user: UInt32)
}
