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
    var files = limit(RLIMIT_NOFILE)
    var addresses = limit(RLIMIT_AS)

    private static let minFiles: UInt64 = 256
    /// Threads reserve far more addresses than they ever use.
    private static let minAddresses: UInt64 = 1 << 30

    func findings() -> [Finding] {
        var findings: [Finding] = []
        if files < Self.minFiles {
            findings.append(
                Finding(
                    "open-files", "a process may have only \(files) files open, and each viewer uses one or two",
                    todo: "raise the limit: ulimit -n 1024, or LimitNOFILE= of the service"))
        }
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
