import Glibc
import LinkTransport

/// A small file with a secret, which only its user can read.
struct PrivateFile {
    let path: String

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

    /// Replaces the file, whose folder must exist (see ``StateFolder``).
    func write(_ text: String) throws(TokenFileError) {
        let code = StateFolder.replace(path, with: text)
        if code != 0 { throw .notWritable(path: path, errno: code) }
    }

    /// Waits until no other host is between reading and writing a file of this folder. Nil if one takes too long.
    func lock() -> FolderLock? {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "./"
        return try? FolderLock(folder: String(folder))
    }
}
