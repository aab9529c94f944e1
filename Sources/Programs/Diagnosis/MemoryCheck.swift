import CLinux
import Glibc
import MediaTypes
import ScreenRelayKit

/// Whether a capture and a host have enough memory for pictures of a size.
struct MemoryCheck {
    let plan: SharePlan
    let size: PictureSize
    /// Where control groups are mounted, and the file that names our group.
    var groups = (mount: "/sys/fs/cgroup", own: "/proc/self/cgroup")
    var information = "/proc/meminfo"

    /// The memory use of a host with a few viewers, in bytes.
    private static let host: UInt64 = 64_000_000

    /// The memory that the capture may use, in bytes: the usual limit is more than twice the most that was measured.
    private var needed: UInt64 { (CaptureMemory.bySize(plan.expectation).ceiling(for: size) ?? 0) / 2 }

    func findings() -> [Finding] {
        var findings: [Finding] = []
        let words = "a capture of \(size) takes up to \(Self.megabytes(needed))"
        if case .bytes(let limit) = plan.captureMemory, limit < needed {
            findings.append(
                Finding(
                    "capture-memory",
                    "--capture-memory is \(Self.megabytes(limit)), and \(words): it would be restarted again and again",
                    todo: "omit --capture-memory, or set it to \(Self.megabytes(needed * 2))"))
        }
        let together = needed + Self.host
        if let group = tightestGroup(), group.limit < together {
            findings.append(
                Finding(
                    "memory",
                    "the control group \(group.path) is limited to \(Self.megabytes(group.limit)), and \(words), the "
                        + "host \(Self.megabytes(Self.host)) more",
                    todo: "raise the limit of the service or the container (MemoryMax=, --memory)"))
        }
        if let free = available(), free < together {
            findings.append(
                Finding(
                    "memory", "\(Self.megabytes(free)) of memory are free, and \(words)",
                    todo: "end other programs, or share less: --scale, --monitor, --region"))
        }
        return findings
    }

    /// The group with the lowest limit of all groups that we are in.
    private func tightestGroup() -> (path: String, limit: UInt64)? {
        let line = TextFile.read(groups.own)?.split(separator: "\n").first { $0.hasPrefix("0::/") }
        guard var path = line.map({ String($0.dropFirst(3)) }) else { return nil }
        var tightest: (path: String, limit: UInt64)?
        while true {
            let file = groups.mount + (path == "/" ? "" : path) + "/memory.max"
            let text = TextFile.read(file)?.trimmed
            if let limit = text.flatMap({ UInt64($0) }), limit < tightest?.limit ?? .max { tightest = (path, limit) }
            guard path.count > 1, let slash = path.lastIndex(of: "/") else { return tightest }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    /// The memory that programs can still get, in bytes (proc(5), MemAvailable).
    private func available() -> UInt64? {
        let line = TextFile.read(information)?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        let number = line?.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }
        return number.map { $0.multipliedReportingOverflow(by: 1024).partialValue }
    }

    private static func megabytes(_ bytes: UInt64) -> String { "\(bytes / 1_000_000)M" }
}

/// The limits of the process (getrlimit(2)), which its children inherit.
struct LimitCheck {
    /// How many files a host may have open: it raises its limit as far as it is allowed to.
    var files = OpenFiles.limit.highest
    var addresses = limit(RLIMIT_AS)

    /// Threads reserve far more addresses than they ever use.
    private static let minAddresses: UInt64 = 1 << 30

    func findings() -> [Finding] {
        var findings = OpenFiles.findings(limit: files)
        if addresses < Self.minAddresses {
            findings.append(
                Finding(
                    "address-space",
                    "the address space of a process is limited to \(addresses >> 20) MiB, too few for its threads",
                    todo: "remove the limit: ulimit -v unlimited, or LimitAS= of the service"))
        }
        return findings
    }

    private static func limit(_ resource: __rlimit_resource) -> UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return .max }
        return UInt64(limit.rlim_cur)
    }
}

/// The number of files that this process may have open at once.
public enum OpenFiles {
    /// The descriptors of a viewer: its WebSocket, and its media if that comes over TCP.
    private static let perViewer: UInt64 = 2
    /// The descriptors for everything else: ports, captures, recordings and pushes.
    private static let reserve: UInt64 = 256
    /// The viewers that a host accepts.
    private static let viewers: UInt64 = 4096

    /// Raises this process's limit as far as it is allowed to. Returns the problem if that isn't enough for the viewers
    /// that a host accepts. Any thread.
    public static func raiseLimit() -> [Finding] {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limits = rlimit()
        if getrlimit(resource, &limits) == 0 {
            limits.rlim_cur = limits.rlim_max
            setrlimit(resource, &limits)
        }
        return findings(limit: limit.current)
    }

    /// The limit that applies, and the one up to which it can be raised.
    static var limit: (current: UInt64, highest: UInt64) {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return (.max, .max) }
        return (UInt64(limits.rlim_cur), UInt64(limits.rlim_max))
    }

    /// The number of viewers that this limit of open files allows: at most as many as a host accepts.
    static func allowedViewers(limit: UInt64) -> UInt64 {
        min((max(limit, reserve) - reserve) / perViewer, viewers)
    }

    /// The problem of a host that may have only `limit` files open.
    static func findings(limit: UInt64) -> [Finding] {
        let allowed = allowedViewers(limit: limit)
        guard allowed < viewers else { return [] }
        let needed = reserve + viewers * perViewer
        return [
            Finding(
                "open-files", "a host may have only \(limit) files open, enough for \(allowed) viewers",
                todo: "for \(viewers) viewers, raise the hard limit to \(needed): LimitNOFILE= of the service, or "
                    + "ulimit -n as root")
        ]
    }
}
