/// A session's entity tag, compared as clients send it back: with quotes, without quotes (as OBS, MediaMTX's reader and
/// browsers differ), or as `*`.
struct EntityTag {
    /// The tag without quotes.
    let text: String

    /// The value for the ETag header.
    var header: String { "\"\(text)\"" }

    /// Whether an If-Match header with this value, or its absence, matches the session's current state.
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
