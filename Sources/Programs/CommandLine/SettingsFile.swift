import Glibc

/// Reads settings files, which are key files.
public enum SettingsFile {
    /// The largest settings file, in bytes.
    public static let limit = 64 * 1024

    /// The file that is read if none is named: `$XDG_CONFIG_HOME/screenrelay/config`, else
    /// `~/.config/screenrelay/config`. Nil if there is no home. Only absolute paths count (XDG Base Directory
    /// Specification).
    public static func standardPath(environment: (String) -> String? = variable) -> String? {
        if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return folder + "/screenrelay/config" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.config/screenrelay/config"
    }

    /// A variable of the process's environment.
    public static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The file's groups and keys, or nil if there is no such file.
    public static func read(_ path: String) throws(SettingsFileError) -> SettingsDocument? {
        guard let (bytes, isPrivate) = try contents(of: path) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw .malformed(path: path, reason: "it is not UTF-8 text")
        }
        var document = try KeyFileReader(text, path: path).document
        document.isPrivate = isPrivate
        return document
    }

    private static func contents(of path: String) throws(SettingsFileError) -> (bytes: [UInt8], isPrivate: Bool)? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw .notReadable(path: path, errno: errno)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .notReadable(path: path, errno: errno) }
        let isPrivate = status.st_mode & 0o077 == 0 && (status.st_uid == geteuid() || status.st_uid == 0)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count == 0 { return (bytes, isPrivate) }
            if count < 0 {
                if errno == EINTR { continue }
                throw .notReadable(path: path, errno: errno)
            }
            bytes += buffer[..<count]
            if bytes.count > limit { throw .malformed(path: path, reason: "it is larger than \(limit) bytes") }
        }
    }
}

/// Why a settings file can't be used.
public enum SettingsFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file can't be opened or read.
    case notReadable(path: String, errno: Int32)
    /// A line of the file is invalid.
    case misplaced(path: String, line: Int, reason: String)
    /// The file is not a key file.
    case malformed(path: String, reason: String)

    public var description: String {
        switch self {
        case .notReadable(let path, let code): "\(path) can't be read: \(String(cString: strerror(code)))"
        case .misplaced(let path, let line, let reason): "\(path):\(line): \(reason)"
        case .malformed(let path, let reason): "\(path) is not a settings file: \(reason)"
        }
    }
}
