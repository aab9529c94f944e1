import Glibc
import LinkTransport

/// A small file with a secret, which only its user can read.
struct PrivateFile {
    let path: String

    /// The folder of such files: `$XDG_STATE_HOME/screenrelay`, or else `~/.local/state/screenrelay`. Nil if there is
    /// no home.
    static func stateFolder(_ environment: (String) -> String?) -> String? {
        if let named = environment("XDG_STATE_HOME"), named.hasPrefix("/") { return named + "/screenrelay" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/screenrelay"
    }

    /// The file's first `limit` bytes, or nil if there is no file.
    func read(limit: Int) throws(TokenFileError) -> [UInt8]? {
        do throws(SmallFileError) {
            return try SmallFile(secret: path, limit: limit).bytes
        } catch {
            switch error {
            case .notReadable(ENOENT): return nil
            case .notReadable(let code): throw .notReadable(path: path, errno: code)
            case .notRegular: throw .notAFile(path: path)
            case .openToOthers, .foreign: throw .notPrivate(path: path)
            }
        }
    }

    /// Written under another name first, so that a reader always finds a whole secret, even after a crash.
    func write(_ text: String) throws(TokenFileError) {
        let early = "\(path).\(getpid())"
        unlink(early)
        let file = open(early, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .notWritable(path: path, errno: errno) }
        let written = text.withCString { Glibc.write(file, $0, strlen($0)) }
        let code = written == text.utf8.count ? 0 : written < 0 ? errno : ENOSPC
        close(file)
        guard code == 0, rename(early, path) == 0 else {
            let reason = code == 0 ? errno : code
            unlink(early)
            throw .notWritable(path: path, errno: reason)
        }
    }

    /// Waits until no other host is between reading and writing a file of this folder. Nil if one takes too long.
    func lock() -> FolderLock? {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "./"
        return try? FolderLock(folder: String(folder))
    }

    /// Creates missing folders, with access for this user only. If this fails, writing the file reports why.
    func makeFolders() {
        var index = path.startIndex
        while let slash = path[path.index(after: index)...].firstIndex(of: "/") {
            mkdir(String(path[..<slash]), 0o700)
            index = slash
        }
    }
}
