/// The control groups that limit the memory of this process: its own group and the groups above it, of version 2
/// (cgroups(7)) and of version 1.
///
/// The process can be moved to another group while it runs, so nothing is kept between two readings.
struct MemoryLimits: Sendable {
    /// The file that names the process's groups, and the file that lists the mounts.
    var groups = "/proc/self/cgroup"
    var mounts = "/proc/self/mountinfo"

    /// Reads the limits. Returns the group that has the least room, or nil if no group has a limit that can be read.
    func tightestGroup() -> LimitedGroup? {
        guard let names = MemoryGroup.read(groups), let lines = MemoryGroup.read(mounts) else { return nil }
        var tightest: LimitedGroup?
        for mount in lines.split(separator: "\n").compactMap({ GroupMount($0) }) {
            guard let own = mount.version.group(in: names), var path = mount.path(to: own) else { continue }
            while true {
                if let group = mount.version.limitedGroup(at: mount.point + path),
                    group.room < tightest?.room ?? .max
                {
                    tightest = group
                }
                guard let slash = path.lastIndex(of: "/") else { break }
                path = String(path[..<slash])
            }
        }
        return tightest
    }
}

/// A control group with a memory limit.
struct LimitedGroup: Sendable, Equatable {
    /// The folder of the group.
    let path: String
    /// Its limit, and its memory in use, in bytes. Cached contents of files, for example of a recording, and of folders
    /// (`slab_reclaimable`, version 2 only) are left out: the kernel drops them before it kills.
    let limit, used: UInt64

    /// The bytes that the open sessions may still need, for example for frames that wait because paths become slow:
    /// 5 per cent of the limit, at least 8 MiB, and at most 64 MiB so that the most of a large group can be used.
    private var reserve: UInt64 { min(max(limit / 20, 8 << 20), 64 << 20) }

    /// The bytes left for new sessions; negative if some of the reserve is in use.
    var room: Int64 {
        // Version 1 has a limit near 2^63 for "none".
        func bounded(_ bytes: UInt64) -> Int64 { Int64(min(bytes, 1 << 62)) }
        return bounded(limit) - bounded(used) - bounded(reserve)
    }
}

/// A version of control groups, with the names of its files.
private enum GroupVersion {
    case one, two

    /// The path of the process's group, from the text of `/proc/self/cgroup`: lines of `ID:CONTROLLERS:PATH`.
    func group(in text: String) -> String? {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isWanted =
                switch self {
                case .one: parts[1].split(separator: ",").contains("memory")
                case .two: parts[0] == "0" && parts[1].isEmpty
                }
            if isWanted { return String(parts[2]) }
        }
        return nil
    }

    /// Reads the group whose folder is `path`. Returns nil if it has no limit.
    func limitedGroup(at path: String) -> LimitedGroup? {
        let names: (limit: String, usage: String, prefix: String) =
            switch self {
            case .one: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
            case .two: ("memory.max", "memory.current", "")
            }
        guard let limit = number(in: path + "/" + names.limit), let usage = number(in: path + "/" + names.usage)
        else { return nil }
        let lines = MemoryGroup.read(path + "/memory.stat")?.split(separator: "\n") ?? []
        var cached: UInt64 = 0
        for name in ["inactive_file ", "active_file ", "slab_reclaimable "] {
            let line = lines.first { $0.hasPrefix(names.prefix + name) }
            cached &+= line.flatMap { UInt64($0.dropFirst(names.prefix.count + name.count)) } ?? 0
        }
        return LimitedGroup(path: path, limit: limit, used: usage - min(usage, cached))
    }

    /// The number in a file; nil if it says `max`.
    private func number(in path: String) -> UInt64? {
        MemoryGroup.read(path)?.split(separator: "\n").first.flatMap { UInt64($0) }
    }
}

/// A mount of control groups, from a line of mountinfo (proc(5)):
///
///     ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER_OPTIONS
private struct GroupMount {
    let version: GroupVersion
    /// The group that is mounted, with the groups below it, and where.
    let root, point: String

    init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard let dash = words.firstIndex(of: "-"), dash >= 6, words.count > dash + 2 else { return nil }
        switch words[dash + 1] {
        case "cgroup2": version = .two
        case "cgroup" where words[words.count - 1].split(separator: ",").contains("memory"): version = .one
        default: return nil
        }
        root = Self.unescaped(words[3])
        point = Self.unescaped(words[4])
    }

    /// The path of `group` from the mount point on: empty, or with a slash in front. Nil if the group isn't mounted
    /// here.
    func path(to group: String) -> String? {
        let prefix = root == "/" ? "" : root
        guard group.hasPrefix(prefix) else { return nil }
        let path = group == "/" ? "" : group.dropFirst(prefix.count)
        guard path.isEmpty || path.hasPrefix("/"), !path.split(separator: "/").contains("..") else { return nil }
        return String(path)
    }

    /// A word of mountinfo, in which a space is `\040` and a backslash is `\134`, without these escapes.
    private static func unescaped(_ word: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(3), as: UTF8.self)
            if byte == UInt8(ascii: "\\"), let escaped = UInt8(digits, radix: 8) {
                bytes.append(escaped)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
