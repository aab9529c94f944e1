/// A session's entity tag as clients send it back: OBS, MediaMTX's reader and browsers quote it, or don't, or say `*`.
struct EntityTag {
    /// Without quotes.
    let text: String

    /// As the ETag header has it.
    var header: String { "\"\(text)\"" }

    /// Whether an If-Match header of this value, or its absence, means the session as it is.
    func matches(_ header: String?) -> Bool {
        guard let header else { return true }
        return header.split(separator: ",").contains { part in
            var tag = part.trimmed
            if tag.hasPrefix("W/") { tag.removeFirst(2) }
            if tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") { tag = String(tag.dropFirst().dropLast()) }
            return tag == "*" || tag == text
        }
    }
}
