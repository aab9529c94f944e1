import Glibc

/// An invite link as an operand: the link itself, `-` for standard input, or `@FILE`. The last two keep the room token
/// off the command line, which every user of the machine can read.
public enum RoomLinkOperand {
    /// The operand's text in `--help`.
    public static let help =
        "the room's invite link, as printed by share or host; - reads it from standard input, and @FILE from a file: "
        + "the first line that begins with http is used"

    /// How many bytes of the input are searched for a link.
    private static let maxInput = 64 << 10

    /// The link that `given` contains or refers to.
    ///
    /// - Throws: ``UsageError`` if the file or standard input can't be read, or has no link.
    public static func read(_ given: String) throws(UsageError) -> String {
        if given == "-" { return try firstLink(of: 0, "standard input") }
        guard given.hasPrefix("@") else { return given }
        let path = String(given.dropFirst())
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else {
            let code = errno
            throw UsageError("\(given): \(String(cString: strerror(code)))", exitCode: ExitCode(reading: code))
        }
        defer { close(file) }
        return try firstLink(of: file, given)
    }

    private static func firstLink(of file: Int32, _ name: String) throws(UsageError) -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        for _ in 0..<maxInput {
            let count = retrying { Glibc.read(file, &byte, 1) }
            if count < 0 {
                let code = errno
                throw UsageError("\(name): \(String(cString: strerror(code)))", exitCode: ExitCode(reading: code))
            }
            if count > 0, byte != UInt8(ascii: "\n") {
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("http://") || text.hasPrefix("https://") { return text }
            if count == 0 { break }
            line.removeAll()
        }
        throw UsageError(
            "\(name): there is no invite link in it; write it like http://127.0.0.1:8080/#screen,TOKEN",
            exitCode: .badData)
    }

    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let count = call()
            if count >= 0 || errno != EINTR { return count }
        }
    }
}

extension ExitCode {
    /// The exit code of a program that could not open or read an input, where `code` is the `errno`.
    init(reading code: Int32) {
        switch code {
        case EACCES, EPERM: self = .permission
        case ENOENT, ENOTDIR: self = .windowGone
        default: self = .inputOutput
        }
    }
}
