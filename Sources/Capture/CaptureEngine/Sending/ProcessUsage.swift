import CLinux
import Glibc
import MediaTypes

/// The CPU time that the process has used, all its threads together.
func cpuTime() -> Interval {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Interval(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}

/// The process's resident memory. Its file stays open, because a confined process can open no other.
struct ResidentMemory: ~Copyable {
    private let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

    deinit { close(file) }

    /// In bytes, or 0 if it can't be determined.
    var bytes: UInt64 {
        var text = [UInt8](repeating: 0, count: 128)
        let count = pread(file, &text, text.count, 0)
        if count <= 0 { return 0 }
        let fields = text[..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = UInt64(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages &* UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
    }
}
