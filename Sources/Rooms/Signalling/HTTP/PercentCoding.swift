import Foundation

/// Percent-encoding of a path segment (RFC 3986 section 2.1).
enum PercentCoding {
    /// Returns `text` with each `%XX` decoded; nil if one is incomplete, or the result isn't UTF-8 or has a control
    /// character.
    static func decode(_ text: some StringProtocol) -> String? {
        text.removingPercentEncoding.flatMap { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ? $0 : nil }
    }

    /// Returns `text` with all characters encoded as `%XX` except unreserved ones (RFC 3986 section 2.3).
    static func encode(_ text: String) -> String {
        // Never nil: only text that isn't valid Unicode can't be encoded, and a String can't hold such text.
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension StringProtocol {
    /// The text without spaces and tabs at both ends (HTTP's optional white space, RFC 9110 section 5.6.3).
    var trimmed: String {
        var text = Substring(self)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
