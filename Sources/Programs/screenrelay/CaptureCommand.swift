import CommandLine
import Glibc

/// `screenrelay capture`: becomes the other program, which links much less.
enum CaptureCommand {
    static let command = Command(
        name: "capture",
        summary: "Captures a display for 'screenrelay host', which runs apart from it.")

    /// The capture program beside this one, as both are installed and built; nil where it is not there.
    static var program: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        let path = String(own[...slash]) + "screenrelay-capture"
        return access(path, X_OK) == 0 ? path : nil
    }

    static let missing = "the program screenrelay-capture is not beside this one; install or build both"

    /// Replaces this process; comes back only where that fails.
    static func run(_ arguments: [String]) -> ExitCode {
        guard let program else {
            StandardStreams.printError(missing, program: Program.name)
            return .unavailable
        }
        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &pointers)
        let reason = String(cString: strerror(errno))
        for pointer in pointers { free(pointer) }
        StandardStreams.printError("\(program) can't be started: \(reason)", program: Program.name)
        return .system
    }
}
