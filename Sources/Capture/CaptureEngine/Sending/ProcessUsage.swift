import CLinux
import Glibc
import MediaTypes

/// The CPU time that the process has used, all its threads together.
func processorTime() -> Interval {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Interval(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}

/// The process's resident memory in bytes, or 0 if it can't be determined.
func residentBytes() -> UInt64 {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    if file < 0 { return 0 }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 128)
    let count = read(file, &text, text.count)
    if count <= 0 { return 0 }
    let fields = text[..<count].split(separator: UInt8(ascii: " "))
    guard fields.count > 1, let pages = UInt64(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
    return pages &* UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
}
