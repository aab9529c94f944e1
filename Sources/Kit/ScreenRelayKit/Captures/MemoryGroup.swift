import Glibc
import Threading

/// A control group for a capture, whose memory limit the kernel enforces (cgroups(7), version 2).
///
/// Available only if we may create a group beside or below our own, in a place where the memory controller is enabled.
final class MemoryGroup {
    private static let mount = "/sys/fs/cgroup"

    let path: String

    /// Makes a group for a capture of `resource`. Returns nil if that isn't possible.
    static func make(for resource: CaptureConfinement.Resource) -> MemoryGroup? {
        guard let own = ownGroup() else { return nil }
        let name = "\(getpid())"
        if let group = MemoryGroup(in: mount + own, for: resource, name: name) { return group }
        // A user may create groups beside our own only in a delegated part of the tree. Root may anywhere, even outside
        // of a service's own limits, but that isn't ours to decide.
        guard geteuid() != 0, let slash = own.lastIndex(of: "/") else { return nil }
        return MemoryGroup(in: mount + own[..<slash], for: resource, name: name)
    }

    /// Makes a group in the directory of another group. `name` is the host's process id.
    init?(in folder: String, for resource: CaptureConfinement.Resource = .display, name: String) {
        let controllers = Self.read(folder + "/cgroup.subtree_control")?.split(whereSeparator: \.isWhitespace) ?? []
        guard controllers.contains("memory") else { return nil }
        // Pictures and sound have limits of their own, and so groups of their own.
        let prefix = resource == .soundServer ? "screenrelay-sound-" : "screenrelay-capture-"
        Self.removeLeftOver(prefix, in: folder)
        path = "\(folder)/\(prefix)\(name)"
        guard mkdir(path, 0o755) == 0 || errno == EEXIST, access(path + "/memory.max", W_OK) == 0 else {
            rmdir(path)
            return nil
        }
        // Swapping beyond the limit would only slow the machine down before the capture is ended.
        _ = Self.write("0", to: path + "/memory.swap.max")
    }

    deinit {
        rmdir(path)
    }

    /// Moves a process into the group. Returns false if that isn't allowed.
    func take(_ process: Int32) -> Bool {
        Self.write("\(process)", to: path + "/cgroup.procs")
    }

    /// Sets the memory limit in bytes.
    func setCeiling(_ bytes: UInt64) {
        _ = Self.write("\(bytes)", to: path + "/memory.max")
    }

    /// How many of the group's processes the kernel has killed because of the memory limit.
    var kills: Int {
        let lines = Self.read(path + "/memory.events")?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("oom_kill ") }
        return line.flatMap { Int($0.dropFirst("oom_kill ".count)) } ?? 0
    }

    /// Removes the groups of hosts that were killed. A running host's group is empty too between two runs of its
    /// capture, so check that the host is gone.
    private static func removeLeftOver(_ prefix: String, in folder: String) {
        for name in fileNames(in: folder) {
            guard name.hasPrefix(prefix), let host = Int32(name.dropFirst(prefix.count)), host > 0 else { continue }
            if kill(host, 0) != 0, errno == ESRCH { rmdir(folder + "/" + name) }
        }
    }

    /// The path of our own group below the mount point, or nil if this system has no version 2 groups.
    private static func ownGroup() -> String? {
        let line = read("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::/") }
        guard let line else { return nil }
        let path = String(line.dropFirst(3))
        return path == "/" ? "" : path
    }

    /// The text of a file of the kernel's, or nil if it can't be read. Text beyond 1 MiB is left out.
    static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while text.count < 1 << 20 {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { break }
            text += buffer.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return text.withCString { Glibc.write(file, $0, strlen($0)) } == text.utf8.count
    }
}
