// Structures of the C library count as one of these two modules', whichever the compiler loads first.
import CLinux
import Clocks
import Glibc
import MediaTypes
import Threading

/// Writes to the standard streams without buffering.
public enum StandardStreams {
    /// Writes text to standard output. Returns false if not all of it could be written (a closed pipe, a full disk).
    @discardableResult
    public static func print(_ text: String) -> Bool { writeAll(Array(text.utf8), to: 1) }

    /// Prints the program's result and returns the exit code. If it can't be written, prints one line that says why.
    public static func answer(_ text: String, program: String) -> ExitCode {
        // A reader that stops early, such as `head`, is no error.
        guard !print(text), errno != EPIPE else { return .success }
        printError("standard output: \(String(cString: strerror(errno)))", program: program)
        return .inputOutput
    }

    /// Writes `program: message` as one line to standard error. Doesn't block.
    public static func printError(_ message: String, program: String) {
        LineWriter.standardError.write(printable("\(program): \(message)"), as: .error)
    }

    /// Whether standard output is the systemd journal, which stores what it gets and which other users may read.
    public static var outputIsJournal: Bool { isJournal(1) }

    /// Whether a descriptor is the systemd journal (systemd.exec(5), `$JOURNAL_STREAM`).
    public static func isJournal(
        _ descriptor: Int32, environment: (String) -> String? = SettingsFile.variable
    ) -> Bool {
        var status = stat()
        guard let stream = environment("JOURNAL_STREAM"), fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Waits at most 1 s until everything for standard error is written. Call it before ending the process by a signal.
    public static func flushErrors() { LineWriter.standardError.flush() }

    /// Writes the usage of a program to standard error.
    static func printUsage(_ text: String) { printPrompt(text) }

    /// Writes a prompt to standard error, without a line feed.
    static func printPrompt(_ text: String) {
        flushErrors()
        writeAll(Array(text.utf8), to: 2)
    }
}

/// Writes all bytes to a descriptor. If that fails, returns false with the reason in `errno`.
@discardableResult
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written > 0 {
            rest = rest.dropFirst(written)
        } else if written < 0 && errno == EAGAIN {
            // Another program made the terminal non-blocking: wait for it, so that no part of a line is lost.
            waitForEvents(on: descriptor, POLLOUT, until: .now() + .seconds(1))
        } else if !(written < 0 && errno == EINTR) {
            return false
        }
    }
    return true
}
