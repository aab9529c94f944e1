import CGLib
public import CommandLine
import Glibc

/// Reads settings files, which are key files, with GLib.
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
        guard let bytes = try contents(of: path) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw .malformed(path: path, reason: "it is not UTF-8 text")
        }
        guard let file = g_key_file_new() else { throw .notReadable(path: path, errno: ENOMEM) }
        defer { g_key_file_unref(file) }
        var error: UnsafeMutablePointer<GError>?
        guard g_key_file_load_from_data(file, text, gsize(bytes.count), G_KEY_FILE_NONE, &error) != 0 else {
            let reason = error.flatMap { $0.pointee.message }.map { String(cString: $0) } ?? ""
            g_clear_error(&error)
            if let fault = SettingsFault(text) { throw .misplaced(path: path, line: fault.line, reason: fault.reason) }
            throw .malformed(path: path, reason: reason)
        }
        let places = SettingsPlaces(text)
        var document = SettingsDocument(path: path, groups: [], entries: [])
        for group in strings(g_key_file_get_groups(file, nil)) {
            document.groups.append((group, places.line(ofGroup: group)))
            for key in strings(g_key_file_get_keys(file, group, nil, nil)) {
                document.entries.append(
                    SettingsDocument.Entry(
                        group: group, key: key, text: value(of: key, in: group, file),
                        list: list(of: key, in: group, file),
                        line: places.line(of: key, in: group)))
            }
        }
        return document
    }

    /// Returns nil if the value contains an invalid escape such as "\q", for which GLib returns a partial value and an
    /// error.
    private static func value(of key: String, in group: String, _ file: OpaquePointer) -> String? {
        var error: UnsafeMutablePointer<GError>?
        let text = g_key_file_get_string(file, group, key, &error)
        defer {
            g_free(text)
            g_clear_error(&error)
        }
        return error == nil ? text.map { String(cString: $0) } : nil
    }

    private static func list(of key: String, in group: String, _ file: OpaquePointer) -> [String]? {
        var error: UnsafeMutablePointer<GError>?
        let list = strings(g_key_file_get_string_list(file, group, key, nil, &error))
        defer { g_clear_error(&error) }
        return error == nil ? list : nil
    }

    /// Converts a vector of strings that ends with NULL, and frees it.
    private static func strings(_ vector: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?) -> [String] {
        guard let vector else { return [] }
        defer { g_strfreev(vector) }
        var result: [String] = []
        var next = vector
        while let text = next.pointee {
            result.append(String(cString: text))
            next += 1
        }
        return result
    }

    private static func contents(of path: String) throws(SettingsFileError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw .notReadable(path: path, errno: errno)
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw .notReadable(path: path, errno: errno)
            }
            bytes += buffer[..<count]
            if bytes.count > limit { throw .malformed(path: path, reason: "it is larger than \(limit) bytes") }
        }
    }
}

/// The line numbers of a key file's groups and keys, which GLib doesn't report.
private struct SettingsPlaces {
    private var groups: [String: Int] = [:]
    private var keys: [String: Int] = [:]

    init(_ text: String) {
        var group = ""
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.drop { $0 == " " || $0 == "\t" }
            if line.hasPrefix("["), let end = line.lastIndex(of: "]") {
                group = String(line[line.index(after: line.startIndex)..<end])
                groups[group] = groups[group] ?? index + 1
            } else if !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") {
                var key = line[..<equals]
                while key.last == " " || key.last == "\t" { key.removeLast() }
                // If a key appears twice, the last one counts.
                keys["\(group)]\(key)"] = index + 1
            }
        }
    }

    func line(ofGroup group: String) -> Int { groups[group] ?? 1 }
    func line(of key: String, in group: String) -> Int { keys["\(group)]\(key)"] ?? line(ofGroup: group) }
}

/// The first invalid line of a key file, and what would be right. GLib rejects the file without naming the line.
private struct SettingsFault {
    let line: Int
    let reason: String

    /// Nil if no known fault is found.
    init?(_ text: String) {
        var hasGroup = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.drop { $0.isWhitespace }
            if line.isEmpty || line.hasPrefix("#") { continue }
            let words = String(line.prefix(60))
            if line.hasPrefix("[") {
                guard !Self.isGroup(line) else {
                    hasGroup = true
                    continue
                }
                self.init(index, "'\(words)' is not a group; write it like [share]")
            } else if !Self.isSetting(line) {
                self.init(index, "'\(words)' is not a setting; write it like fps=20, or put # in front of a comment")
            } else if !hasGroup {
                self.init(index, "'\(words)' is not in a group; put one before it, such as [all] or [share]")
            } else {
                continue
            }
            return
        }
        return nil
    }

    private init(_ index: Int, _ reason: String) {
        line = index + 1
        self.reason = reason
    }

    private static func isGroup(_ line: Substring) -> Bool {
        var line = line
        while line.last?.isWhitespace == true { line.removeLast() }
        let name = line.dropFirst().dropLast()
        return line.last == "]" && !name.isEmpty
            && name.unicodeScalars.allSatisfy { $0 != "[" && $0 != "]" && $0.value >= 0x20 && $0.value != 0x7F }
    }

    private static func isSetting(_ line: Substring) -> Bool {
        line.firstIndex(of: "=").map { $0 != line.startIndex } ?? false
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
