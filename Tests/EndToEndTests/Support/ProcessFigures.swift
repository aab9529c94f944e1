import Glibc
import MediaTypes
import TestSupport
import Testing

/// What the kernel reports about a running process.
struct ProcessFigures: CustomStringConvertible {
    /// In KiB: the most that was ever resident, what is resident now, and the shared part of that.
    let peak: Int
    let resident: Int
    let shared: Int
    /// In KiB: the part of what is resident that is mapped from files, mainly the code of the program and its
    /// libraries.
    let code: Int
    /// Open descriptors.
    let descriptors: Int
    /// Processor time of its main thread.
    let cpuTime: Interval
    /// How often it has waited for something.
    let wakeUps: Int

    init(_ process: Int32) throws {
        let status = String(decoding: try fileBytes("/proc/\(process)/status"), as: UTF8.self)
        func number(_ name: String) throws -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            let words = line?.split { $0 == " " || $0 == "\t" } ?? []
            return try #require(words.count > 1 ? Int(words[1]) : nil, "\(name) of \(process)")
        }
        peak = try number("VmHWM")
        resident = try number("VmRSS")
        shared = try number("RssShmem")
        code = try number("RssFile")
        wakeUps = try number("voluntary_ctxt_switches")
        descriptors = try Self.count("/proc/\(process)/fd")
        // The first value is the time on a processor in nanoseconds (Documentation/scheduler/sched-stats.rst).
        let time = String(decoding: try fileBytes("/proc/\(process)/schedstat"), as: UTF8.self)
        cpuTime = Interval(nanoseconds: time.split(separator: " ").first.flatMap { Int64($0) } ?? 0)
    }

    var description: String {
        "\(resident) KiB resident (\(shared) shared, \(code) code, peak \(peak)), \(descriptors) descriptors"
    }

    private static func count(_ folder: String) throws -> Int {
        let directory = try #require(opendir(folder), "\(folder)")
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without "." and "..".
        return count - 2
    }
}

/// Returns how many descriptors a process has open.
func openDescriptors(of process: Int32) throws -> Int {
    let folder = "/proc/\(process)/fd"
    guard let directory = opendir(folder) else { throw FileError(path: folder, errno: errno) }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Without "." and "..".
    return count - 2
}

/// Returns the processor time that a process has used so far, in hundredths of a second (proc(5), /proc/PID/stat).
func processorTicks(of process: Int32) throws -> Int {
    let text = String(decoding: try fileBytes("/proc/\(process)/stat"), as: UTF8.self)
    // After the name, which may contain any character, come fields 3 and on; user and system time are 14 and 15.
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +)
}
