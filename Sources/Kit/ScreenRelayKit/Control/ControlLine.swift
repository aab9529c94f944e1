import Signalling

/// The lines of the control socket, each ended by a line feed. A request has at most 8192 bytes, for the URL of a push,
/// and an answer at most 512; one that is a JSON object has at most 4 MiB.
enum ControlLine {
    static let requestLimit = 8192
    static let answerLimit = 512
    /// Longer than any JSON object: one that was cut off couldn't be read.
    static let objectLimit = 4 << 20
    /// How long either end waits for the other, in total.
    static let timeoutMilliseconds: Int64 = 2000

    /// The first line of `bytes`, without its line feed, or nil if it is not complete yet.
    static func first(of bytes: [UInt8]) -> String? {
        bytes.firstIndex(of: 0x0A).map { String(decoding: bytes[..<$0], as: UTF8.self) }
    }

    /// The text as the bytes of one line. Control characters become spaces, and text beyond `limit` is cut off.
    static func bytes(_ text: String, limit: Int) -> [UInt8] {
        var line = text.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }
        if line.count >= limit {
            line.removeSubrange((limit - 1)...)
            // Don't leave half a character at the end.
            while let last = line.last, last & 0xC0 == 0x80 { line.removeLast() }
            if let last = line.last, last & 0x80 != 0 { line.removeLast() }
        }
        return line + [0x0A]
    }

    /// `control-PID.sock`
    static func socketName(of process: Int32) -> String { "control-\(process).sock" }

    /// The process id in the name of a control socket, or nil if it is not such a name.
    static func process(ofSocketNamed name: String) -> Int32? {
        guard name.hasPrefix("control-"), name.hasSuffix(".sock") else { return nil }
        let digits = name.dropFirst("control-".count).dropLast(".sock".count)
        guard (1...10).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int32(digits).flatMap { $0 > 0 ? $0 : nil }
    }
}

extension ControlCommand {
    /// The maximum length of the answer in bytes, including its line feed.
    var answerLimit: Int {
        switch self {
        case .status, .rooms, .link, .push(.list): ControlLine.objectLimit
        default: ControlLine.answerLimit
        }
    }
}
