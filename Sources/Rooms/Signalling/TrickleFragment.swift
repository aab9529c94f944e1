/// What signalling reads of a session description or of a trickle-ice-sdpfrag (RFC 8840): the ICE generation it is about.
struct TrickleFragment {
    private let fragments: Set<Substring>
    private let passwords: Set<Substring>

    init(_ text: String) {
        fragments = Self.values("a=ice-ufrag:", in: text)
        passwords = Self.values("a=ice-pwd:", in: text)
    }

    /// Whether this fragment is about the generation that `offer` began: it names no other user name fragment or password.
    func isTrickle(for offer: TrickleFragment) -> Bool {
        fragments.isSubset(of: offer.fragments) && passwords.isSubset(of: offer.passwords)
    }

    private static func values(_ attribute: String, in text: String) -> Set<Substring> {
        Set(
            text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix(attribute) }.map {
                $0.dropFirst(attribute.count)
            })
    }
}

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
