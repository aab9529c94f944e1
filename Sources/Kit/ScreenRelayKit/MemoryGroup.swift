import Glibc

/// A control group of its own for a capture, with a ceiling of memory that the kernel keeps (cgroups(7), version 2).
///
/// Had only where we may make one: beside or below our own group, in a place where the memory controller works already.
final class MemoryGroup {
    /// The host's process ID stands behind it.
    private static let prefix = "screenrelay-capture-"
    private static let mount = "/sys/fs/cgroup"

    let path: String

    /// Makes a group; nil where that isn't possible.
    static func make() -> MemoryGroup? {
        guard let own = ownGroup() else { return nil }
        let name = "\(getpid())"
        if let group = MemoryGroup(in: mount + own, name: name) { return group }
        // Beside our own group a user may only where that part of the tree was handed over to him. Root may anywhere, also out
        // of a service's own limits: not ours to decide.
        guard geteuid() != 0, let slash = own.lastIndex(of: "/") else { return nil }
        return MemoryGroup(in: mount + own[..<slash], name: name)
    }

    /// Makes a group in the folder of another.
    init?(in folder: String, name: String) {
        let controllers = Self.read(folder + "/cgroup.subtree_control")?.split(whereSeparator: \.isWhitespace) ?? []
        guard controllers.contains("memory") else { return nil }
        Self.removeLeftOver(in: folder)
        path = "\(folder)/\(Self.prefix)\(name)"
        guard mkdir(path, 0o755) == 0 || errno == EEXIST, access(path + "/memory.max", W_OK) == 0 else {
            rmdir(path)
            return nil
        }
        // Past its ceiling it would only make the machine slow before it is ended.
        _ = Self.write("0", to: path + "/memory.swap.max")
    }

    deinit {
        rmdir(path)
    }

    /// Moves a process into the group; false where that isn't allowed.
    func take(_ process: Int32) -> Bool {
        Self.write("\(process)", to: path + "/cgroup.procs")
    }

    /// Sets the ceiling, in bytes.
    func setCeiling(_ bytes: UInt64) {
        _ = Self.write("\(bytes)", to: path + "/memory.max")
    }

    /// How often the kernel has ended a process of the group for its memory.
    var kills: Int {
        let lines = Self.read(path + "/memory.events")?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("oom_kill ") }
        return line.flatMap { Int($0.dropFirst("oom_kill ".count)) } ?? 0
    }

    /// The groups that a host left behind which was killed. A live one's is empty too, between two runs of its capture.
    private static func removeLeftOver(in folder: String) {
        guard let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix), let host = Int32(name.dropFirst(prefix.count)), host > 0 else { continue }
            if kill(host, 0) != 0, errno == ESRCH { rmdir(folder + "/" + name) }
        }
    }

    /// Our own group's path below the mount; nil where this system has no groups of version 2.
    private static func ownGroup() -> String? {
        let line = read("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::/") }
        guard let line else { return nil }
        let path = String(line.dropFirst(3))
        return path == "/" ? "" : path
    }

    private static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(file, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return text.withCString { Glibc.write(file, $0, strlen($0)) } == text.utf8.count
    }
}
