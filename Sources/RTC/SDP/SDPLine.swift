/// One line of a description: a letter, `=`, and a value.
struct SDPLine {
    /// From 1, for errors.
    let number: Int
    let type: Character
    let value: Substring

    /// The lines of `text`, empty ones left out.
    static func lines(of text: [UInt8]) throws(SDPError) -> [SDPLine] {
        guard text.count <= SessionDescription.maximumLength else { throw .tooLong(text.count) }
        var lines: [SDPLine] = []
        var number = 0
        for var bytes in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            if bytes.isEmpty { continue }
            // A control character in what we repeat in an answer could end a line of ours.
            guard bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }), let line = String(validating: bytes, as: UTF8.self)
            else { throw .malformed(line: number, "bytes that are no text") }
            let halves = line[...].cut(at: "=")
            guard let type = halves.head.utf8.first, halves.head.utf8.count == 1, let value = halves.tail else {
                throw .malformed(line: number, "not a letter and \"=\"")
            }
            lines.append(SDPLine(number: number, type: Character(Unicode.Scalar(type)), value: value))
        }
        return lines
    }

    /// The name and the value of an `a=` line.
    var attribute: (name: Substring, value: Substring) {
        let halves = value.cut(at: ":")
        return (halves.head, halves.tail ?? "")
    }

    /// The error that this line deserves.
    func malformed(_ what: String) -> SDPError { .malformed(line: number, what) }
}

// By bytes, not by characters: a combining mark must not hide a separator.
extension Substring {
    /// The parts between blanks.
    var words: [Substring] { parts(separator: " ") }

    /// The non-empty parts between separators.
    func parts(separator: Unicode.Scalar) -> [Substring] {
        utf8.split(separator: UInt8(ascii: separator)).map { Substring($0) }
    }

    /// What stands before the first `separator`, and what behind it; nil where there is none.
    func cut(at separator: Unicode.Scalar) -> (head: Substring, tail: Substring?) {
        guard let index = utf8.firstIndex(of: UInt8(ascii: separator)) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// Whether there is something, and nothing but visible ASCII.
    var isVisibleASCII: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}
