import Glibc

/// The folder for this user's sockets: the first of these that can be had.
///
/// - `$XDG_RUNTIME_DIR/screenrelay`, where that directory is there and ours;
/// - `/run/user/UID/screenrelay`, likewise;
/// - `$TMPDIR/screenrelay-UID` (or under `/tmp`), where anybody may have put something before us: hence the checks.
///
/// Host and capture find the same one, each by itself. Only a folder that we make ourselves is ever changed.
public struct SocketFolder: Sendable {
    /// The surroundings that decide which folder it is.
    public struct Environment: Sendable {
        /// `$XDG_RUNTIME_DIR`
        public var runtimeDirectory: String?
        /// `$TMPDIR`
        public var temporaryDirectory: String?
        /// Where the system keeps a directory for each user who is logged in.
        public var userDirectories: String
        /// Whose folder it is.
        public var user: UInt32

        /// Surroundings that the caller describes.
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

    /// The folder's path, without a slash at its end.
    public let path: String
    private let user: UInt32

    /// Finds out which folder it is; nothing is made yet.
    public init(environment: Environment = .current) {
        user = environment.user
        let runtime = [environment.runtimeDirectory, "\(environment.userDirectories)/\(environment.user)"]
        for case let directory? in runtime where directory.hasPrefix("/") {
            // Under sudo the variable may still name another user's directory: not ours to put things in.
            if let status = FileStatus(path: directory), status.isDirectory, status.owner == environment.user {
                path = directory + "/screenrelay"
                return
            }
        }
        let temporary = environment.temporaryDirectory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        path = "\(temporary)/screenrelay-\(environment.user)"
    }

    /// Makes the folder (0700) unless it is there, and checks that it is ours and that nobody else may write in it.
    public func prepare() throws(LinkTransportError) {
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

/// What lstat(2) tells of a path: a symbolic link is not followed.
struct FileStatus {
    private let status: stat

    /// nil where there is nothing, or nothing that we may look at.
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

    /// Whether both are the very same file.
    func isSameFile(as other: FileStatus) -> Bool {
        status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
    }
}
