extension StringProtocol {
    /// The text without spaces and tabs at both ends (HTTP's optional white space, RFC 9110 section 5.6.3).
    var trimmed: String {
        var text = Substring(self)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
