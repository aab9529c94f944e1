/// A line of a description: a letter, `=`, and a value.
struct SDPLine {
    /// The line number, from 1, for error messages.
    let number: Int
    let type: Character
    let value: Substring

    /// Splits `text` into lines and leaves out empty ones.
    static func lines(of text: [UInt8]) throws(SDPError) -> [SDPLine] {
        guard text.count <= SessionDescription.maxLength else { throw .tooLong(text.count) }
        var lines: [SDPLine] = []
        var number = 0
        for var bytes in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            if bytes.isEmpty { continue }
            // A control character in a value that an answer repeats could end one of our own lines.
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

    /// An error for this line.
    func malformed(_ what: String) -> SDPError { .malformed(line: number, what) }
}

// These split by bytes, not by characters, so that a combining mark can't hide a separator.
extension Substring {
    /// The non-empty parts between spaces.
    var words: [Substring] { parts(separator: " ") }

    /// The non-empty parts between separators.
    func parts(separator: Unicode.Scalar) -> [Substring] {
        utf8.split(separator: UInt8(ascii: separator)).map { Substring($0) }
    }

    /// The parts before and after the first `separator`; the tail is nil if there is no separator.
    func cut(at separator: Unicode.Scalar) -> (head: Substring, tail: Substring?) {
        guard let index = utf8.firstIndex(of: UInt8(ascii: separator)) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// Whether the text is not empty and consists only of visible ASCII characters.
    var isVisibleASCII: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}
