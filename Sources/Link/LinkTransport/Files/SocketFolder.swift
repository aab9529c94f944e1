import CLinux
import Glibc

/// The folder for this user's sockets, which is the first of these that is available:
///
/// - `$XDG_RUNTIME_DIR/screenrelay`, if that directory exists and belongs to this user;
/// - `/run/user/UID/screenrelay`, under the same conditions;
/// - `$TMPDIR/screenrelay-UID` (or under `/tmp`), where another user may have created it first, hence the checks.
///
/// Host and capture find the same folder independently. Only a folder that this process creates is ever changed.
public struct SocketFolder: Sendable {
    /// The environment that determines the folder.
    public struct Environment: Sendable {
        /// `$XDG_RUNTIME_DIR`
        public var runtimeDirectory: String?
        /// `$TMPDIR`
        public var temporaryDirectory: String?
        /// The directory in which the system keeps a directory for each user who is logged in.
        public var userDirectories: String
        /// The user whose folder it is.
        public var user: UInt32

        /// Creates an environment from given values.
        public init(runtimeDirectory: String?, temporaryDirectory: String?, userDirectories: String, user: UInt32) {
            self.runtimeDirectory = runtimeDirectory
            self.temporaryDirectory = temporaryDirectory
            self.userDirectories = userDirectories
            self.user = user
        }

        /// This process's environment and effective user.
        public static var current: Environment {
            Environment(
                runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) },
                temporaryDirectory: getenv("TMPDIR").map { String(cString: $0) },
                userDirectories: "/run/user", user: geteuid())
        }
    }

    /// The folder's path, without a trailing slash.
    public let path: String
    private let user: UInt32

    /// Determines the folder; nothing is created yet.
    public init(environment: Environment = .current) {
        user = environment.user
        let runtime = [environment.runtimeDirectory, "\(environment.userDirectories)/\(environment.user)"]
        for case let directory? in runtime where directory.hasPrefix("/") {
            // Under sudo, the variable may still name another user's directory, which must not be used.
            if let status = FileStatus(path: directory), status.isDirectory, status.owner == environment.user {
                path = directory + "/screenrelay"
                return
            }
        }
        let temporary = environment.temporaryDirectory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        path = "\(temporary)/screenrelay-\(environment.user)"
    }

    /// Creates the folder (0700) if necessary, and checks that it belongs to this user and that no other user may write
    /// to it.
    ///
    /// - Throws: `folderMissing` if the folder around it doesn't exist, `folderNotSafe`, or `system`.
    public func prepare() throws(SocketError) {
        let (_, code) = retryingInterrupted { mkdir(path, 0o700) }
        switch code {
        case 0, EEXIST: break
        case ENOENT, ENOTDIR: throw .folderMissing(folder: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
        case EACCES, EPERM: throw .folderNotSafe(folder: path, reason: "no permission to make it")
        default: throw .system(call: "mkdir", subject: path, code: code)
        }
        guard let status = FileStatus(path: path) else { throw .folderMissing(folder: path) }
        if !status.isDirectory {
            throw .folderNotSafe(folder: path, reason: "it is no folder (or a symbolic link); remove it")
        }
        if status.owner != user {
            throw .folderNotSafe(folder: path, reason: "it belongs to user \(status.owner) and we are user \(user)")
        }
        if status.permissions & 0o022 != 0 {
            throw .folderNotSafe(folder: path, reason: "other users may write in it; run chmod 700 on it")
        }
    }
}

/// The result of lstat(2) for a path; symbolic links are not followed.
struct FileStatus {
    private let status: stat

    /// Nil if the file doesn't exist or can't be accessed.
    init?(path: String) {
        var status = stat()
        guard retryingInterrupted({ lstat(path, &status) }).code == 0 else { return nil }
        self.status = status
    }

    var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
    var isLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
    var isSocket: Bool { status.st_mode & S_IFMT == S_IFSOCK }
    var owner: UInt32 { status.st_uid }
    var permissions: UInt32 { status.st_mode & 0o7777 }

    /// Whether both are the same file.
    func isSameFile(as other: FileStatus) -> Bool {
        status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
    }
}
