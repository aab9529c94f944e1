/// How many processors the control groups of this process let it take: its own group and the groups above it
/// (cgroups(7), version 2; `CPUQuota=` of systemd, `--cpus` of a container).
package struct ProcessorQuota {
    /// The file that names the process's group, and where the groups are mounted.
    var groups = "/proc/self/cgroup"
    var mount = "/sys/fs/cgroup"

    /// The whole processors that this process may take; nil if no quota can be read.
    package static var ofThisProcess: Int? { ProcessorQuota().processors }

    /// The whole processors of the tightest quota, at least 1; nil if there is none that can be read.
    var processors: Int? {
        guard let line = MemoryGroup.read(groups)?.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        var path = String(line.dropFirst("0::".count))
        var tightest: Int?
        while true {
            if let count = quota(of: mount + path) { tightest = min(count, tightest ?? .max) }
            guard let slash = path.lastIndex(of: "/") else { return tightest }
            path = String(path[..<slash])
        }
    }

    /// The quota of the group whose folder is `path`, from `cpu.max`: the microseconds of CPU time, or `max`, and the
    /// period in which it may take them.
    private func quota(of path: String) -> Int? {
        let words = MemoryGroup.read(path + "/cpu.max")?.split(whereSeparator: \.isWhitespace) ?? []
        guard words.count == 2, let time = Int(words[0]), let period = Int(words[1]), period > 0 else { return nil }
        return max(1, time / period)
    }
}
