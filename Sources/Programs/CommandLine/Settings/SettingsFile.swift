import Glibc
import LinkTransport

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
    ///
    /// - Throws: ``SettingsFileError`` if it can't be read, is too large or no text, or if a line is invalid.
    public static func read(_ path: String) throws(SettingsFileError) -> SettingsDocument? {
        let file: SmallFile
        do throws(SmallFileError) {
            file = try SmallFile(path, limit: limit + 1)
        } catch {
            guard case .notReadable(let code) = error else { throw .malformed(path: path, reason: "it is no file") }
            if code == ENOENT { return nil }
            throw .notReadable(path: path, errno: code)
        }
        guard file.bytes.count <= limit else {
            throw .malformed(path: path, reason: "it is larger than \(limit) bytes")
        }
        guard let text = String(validating: file.bytes, as: UTF8.self), !file.bytes.contains(0) else {
            throw .malformed(path: path, reason: "it is not UTF-8 text")
        }
        var document = try KeyFileReader(text, path: path).document
        document.isPrivate = file.isPrivate
        return document
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
