import Glibc
import LinkTransport

/// Reads a password that a user types on a terminal, pipes in or keeps in a file.
public enum PasswordInput {
    /// The longest password, in bytes of UTF-8.
    public static let maxByteCount = 256

    /// Asks on the terminal at standard input, without showing what is typed. If standard input is not a terminal,
    /// reads its first line. Throws ``PasswordError``, such as `cancelled`, `unlike` or `tooLong`.
    public static func ask(_ question: String) throws(PasswordError) -> String {
        guard isatty(0) == 1 else { return try check(firstLineOfInput()) }
        let first = try typed(after: "\(question): ")
        guard try typed(after: "\(question), again: ") == first else { throw .unlike }
        return try check(first)
    }

    /// Reads the first line of a file that only its owner can read. Throws ``PasswordError`` if it can't be read, if
    /// others can read it, or if the line is no password.
    public static func read(file path: String) throws(PasswordError) -> String {
        let file: SmallFile
        do throws(SmallFileError) {
            // What is read of a line that is too long is too long as well.
            file = try SmallFile(secret: path, limit: maxByteCount + 2)
        } catch {
            switch error {
            case .notReadable(let code): throw .notReadable(errno: code)
            case .notRegular: throw .notAFile
            case .openToOthers, .foreign: throw .notPrivate
            }
        }
        var line = file.bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return try check(Array(line))
    }

    private static func check(_ bytes: [UInt8]) throws(PasswordError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
        guard !text.isEmpty else { throw .empty }
        guard bytes.count <= maxByteCount else { throw .tooLong }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else { throw .notText }
        return text
    }

    /// Reads no more of standard input than that line.
    private static func firstLineOfInput() throws(PasswordError) -> [UInt8] {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count <= maxByteCount + 1 {
            let count = Glibc.read(0, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .notReadable(errno: errno) }
            guard count > 0, byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    /// Reads one line from the terminal, a key at a time. With the terminal's own line editing, Ctrl-C would end us and
    /// leave the terminal without echo.
    private static func typed(after question: String) throws(PasswordError) -> [UInt8] {
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { throw .notReadable(errno: errno) }
        var mute = before
        mute.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(0, TCSAFLUSH, &mute) == 0 else { throw .notReadable(errno: errno) }
        // Print the question only now, so that an immediate answer is not shown and can't end us.
        StandardStreams.printPrompt(question)
        defer {
            tcsetattr(0, TCSAFLUSH, &before)
            StandardStreams.printPrompt("\n")
        }
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = Glibc.read(0, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .notReadable(errno: count < 0 ? errno : EIO) }
            switch byte {
            case 0x0A, 0x0D: return line
            // Ctrl-C, Ctrl-D.
            case 0x03, 0x04: throw .cancelled
            case 0x15: line = []
            case 0x08, 0x7F:
                // Remove a whole character: its continuation bytes and its first byte.
                while let last = line.popLast(), last & 0xC0 == 0x80 {}
            default: if line.count <= maxByteCount { line.append(byte) }
            }
        }
    }
}

/// Why a password could not be read.
public enum PasswordError: Error, Equatable, Sendable, CustomStringConvertible {
    case notReadable(errno: Int32)
    case notAFile
    /// Others can read the file.
    case notPrivate
    case empty
    case tooLong
    case notText
    /// The second input differs from the first.
    case unlike
    case cancelled

    public var description: String {
        switch self {
        case .notReadable(let code): "can't be read: \(String(cString: strerror(code)))"
        case .notAFile: "is not a file"
        case .notPrivate: "can be read by others, or belongs to another user; run chmod 600 on it"
        case .empty: "the password, which is the first line, is empty"
        case .tooLong: "a password has at most \(PasswordInput.maxByteCount) bytes"
        case .notText: "a password is UTF-8 text without control characters"
        case .unlike: "the two passwords differ; start again"
        case .cancelled: "no password was given"
        }
    }

    /// The exit code for this problem.
    public var exitCode: ExitCode {
        switch self {
        case .notReadable(EACCES), .notPrivate: .permission
        case .notReadable(ENOENT), .notReadable(ENOTDIR): .windowGone
        case .notReadable: .system
        case .notAFile, .unlike, .cancelled: .usage
        case .empty, .tooLong, .notText: .badData
        }
    }
}
