import CLinux
import Glibc

/// A folder under the system's temporary folder for one test; it is removed with its contents when it is released.
public final class TemporaryFolder: Sendable {
    /// Its path, without a slash at the end; it is short enough for Unix sockets in the folder.
    public let path: String

    /// Makes the folder, with access for our user alone.
    public init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((parent + "/screenrelay-test-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw FileError(path: parent, errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        removeTree(path)
    }

    /// The path of a file with this name in the folder; nothing is created.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file with this name into the folder, and returns its path.
    @discardableResult
    public func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = file(name)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, errno: errno) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError(path: path, errno: errno) }
            written += count
        }
        return path
    }
}

/// Removes a file, or a folder with its contents; links are removed, not followed.
private func removeTree(_ path: String) {
    if remove(path) == 0 { return }
    guard let directory = opendir(path) else { return }
    var names: [String] = []
    while let entry = readdir(directory) {
        names.append(entryName(entry))
    }
    closedir(directory)
    for name in names where name != "." && name != ".." { removeTree(path + "/" + name) }
    rmdir(path)
}

/// The name of a folder's entry.
func entryName(_ entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// A file of a test could not be read or written.
public struct FileError: Error, CustomStringConvertible {
    /// The file's path.
    public let path: String
    /// The system's error number.
    public let errno: Int32
    public var description: String { "\(path): \(String(cString: strerror(errno)))" }

    public init(path: String, errno: Int32) {
        self.path = path
        self.errno = errno
    }
}

/// Makes a pipe that no child inherits unless it is handed down; the caller closes both ends.
public func makePipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw FileError(path: "pipe", errno: errno) }
    return (ends[0], ends[1])
}

/// Reads a whole file.
public func fileBytes(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(path: path, errno: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw FileError(path: path, errno: errno) }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}
