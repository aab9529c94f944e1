import CConfinement
import TestSupport
import Testing

/// What a confined capture has given up, as its log and the kernel say.
enum GivenUpRights {
    /// The end of the line that reports what applies: Landlock too, if this kernel has it. It doesn't confine older
    /// threads.
    static func line(hasOlderThreads: Bool = false) -> String {
        let version = shim_landlock_version()
        let files = version > 0 ? "by Landlock \(version)" : "not (no Landlock)"
        let exception = hasOlderThreads ? " except on older threads" : ""
        return "debug: confined: system calls by seccomp, files \(files)\(exception)\n"
    }

    /// Checks that each thread of a process has one filter more than this process, or none, and returns their number.
    static func expect(
        _ isConfined: Bool, of process: Int32, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Int {
        let ours = try filters(of: "/proc/self")
        let threads = try Survival.threads(of: process)
        for thread in threads {
            let theirs = try filters(of: "/proc/\(process)/task/\(thread)")
            #expect(theirs == ours + (isConfined ? 1 : 0), sourceLocation: sourceLocation)
        }
        return threads.count
    }

    /// How many filters of system calls a thread has (proc(5), Linux 5.9).
    private static func filters(of folder: String) throws -> Int {
        let status = String(decoding: try fileBytes(folder + "/status"), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Seccomp_filters:") })
        return try #require(line.split(separator: "\t").last.flatMap { Int($0) })
    }
}
