import CLinux
import Glibc

/// Whether files with secrets are accessible only to this user, and whether the folders that a share writes to are
/// safe.
struct FileCheck {
    let files: [String]
    let folders: [String]

    func findings() -> [Finding] { files.compactMap(secretProblem) + folders.compactMap(folderProblem) }

    private func secretProblem(_ path: String) -> Finding? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            // A file that isn't there yet is created, with the right mode.
            if errno == ENOENT { return nil }
            return Finding("file", "\(path) can't be reached: \(Self.reason)", todo: Self.owning)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return Finding("file", "\(path) is not a file", todo: "remove it, or name another one")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            return Finding(
                "file-owner", "\(path) contains a secret, and belongs to user \(status.st_uid)", todo: Self.owning)
        }
        if status.st_mode & 0o077 != 0 {
            return Finding(
                "file-mode", "\(path) contains a secret, and its mode \(Self.mode(status)) gives other users access",
                todo: "run chmod 600 \(path); if it may have been read, create a new secret")
        }
        if access(path, R_OK) == 0 { return nil }
        return Finding("file", "\(path) can't be read: \(Self.reason)", todo: Self.owning)
    }

    private func folderProblem(_ path: String) -> Finding? {
        var status = stat()
        guard stat(path, &status) == 0 else { return parentProblem(path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return Finding("folder", "\(path) is not a folder", todo: "remove it")
        }
        guard status.st_uid == geteuid() else {
            // Root's own folder is no obstacle for root, and nobody else's is for a user.
            return Finding(
                "folder-owner", "the folder \(path) belongs to user \(status.st_uid), and we are user \(geteuid())",
                todo: "run chown on it, or remove it")
        }
        if status.st_mode & 0o022 != 0 {
            return Finding(
                "folder-mode", "the mode \(Self.mode(status)) of the folder \(path) lets other users write into it",
                todo: "run chmod 700 \(path)")
        }
        guard access(path, W_OK | X_OK) == 0 else {
            return Finding(
                "folder", "nothing can be written to the folder \(path): \(Self.reason)", todo: "run chmod 700 \(path)")
        }
        return nil
    }

    /// A folder that isn't there is created in the nearest one that is.
    private func parentProblem(_ path: String) -> Finding? {
        var parent = path
        while let slash = parent.lastIndex(of: "/") {
            parent = slash == parent.startIndex ? "/" : String(parent[..<slash])
            if access(parent, F_OK) == 0 {
                guard access(parent, W_OK | X_OK) != 0 else { return nil }
                return Finding(
                    "folder", "the folder \(path) can't be created in \(parent): \(Self.reason)",
                    todo: "create it, owned by this user")
            }
            if parent == "/" { break }
        }
        return nil
    }

    private static let owning = "give it to this user with chown, or name another one"
    private static var reason: String { String(cString: strerror(errno)) }
    private static func mode(_ status: stat) -> String { "0" + String(status.st_mode & 0o777, radix: 8) }
}
