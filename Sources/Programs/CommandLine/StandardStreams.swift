import Glibc

/// What a program says on its standard streams, without buffers between.
public enum StandardStreams {
    /// Writes text to standard output as it is; false where it could not all be written (a closed pipe, a full disk).
    @discardableResult
    public static func print(_ text: String) -> Bool { writeAll(Array(text.utf8), to: 1) }

    /// Prints what the program was asked for, and gives what to end it with: where it can't be written, one line says why.
    public static func answer(_ text: String, program: String) -> ExitCode {
        // A reader that has seen enough (`head`) is no error.
        guard !print(text), errno != EPIPE else { return .success }
        printError("standard output: \(String(cString: strerror(errno)))", program: program)
        return .inputOutput
    }

    /// Writes `program: message` as one line to standard error. Doesn't block.
    public static func printError(_ message: String, program: String) {
        LineWriter.standardError.write(printable("\(program): \(message)"))
    }

    /// Whether standard output is the systemd journal, which keeps what it gets and which others may read
    /// (systemd.exec(5), `$JOURNAL_STREAM`).
    public static var outputIsJournal: Bool {
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(1, &status) == 0 else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Waits, at most a second, until what was said to standard error is written: for whoever ends the process by a signal.
    public static func flushErrors() { LineWriter.standardError.flush() }

    /// Writes a question, or what ends it, to standard error, and no line's end.
    static func printPrompt(_ text: String) {
        flushErrors()
        writeAll(Array(text.utf8), to: 2)
    }
}

/// Writes all of the bytes to a file or a stream; false where that can't be done, with the reason in `errno`.
@discardableResult
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written > 0 {
            rest = rest.dropFirst(written)
        } else if written < 0 && errno == EAGAIN {
            // Somebody made the terminal non-blocking: wait for it rather than lose half a line.
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&wait, 1, 1_000)
        } else if !(written < 0 && errno == EINTR) {
            return false
        }
    }
    return true
}
