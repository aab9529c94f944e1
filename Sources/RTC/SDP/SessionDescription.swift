/// A session description (RFC 8866), as far as a peer that sends one video needs it (RFC 8829).
///
/// Session-level attributes that apply to all media (ICE credentials, fingerprint, setup, direction, extensions) are
/// copied to each media section.
public struct SessionDescription: Sendable, Equatable {
    /// A group of media sections (RFC 5888). The sections of a `BUNDLE` group share one transport (RFC 9143).
    public struct Group: Sendable, Equatable {
        /// The group's purpose: `BUNDLE`, `LS`.
        public var semantics: String
        /// The `mid` of each media section in the group.
        public var mids: [String]
    }

    /// The length of the longest description that is accepted, in bytes.
    public static let maxLength = 64 * 1024
    /// The maximum number of media sections.
    public static let maxMediaSections = 32

    /// The groups in order.
    public var groups: [Group] = []
    /// Whether the peer is ICE-lite, so that it answers checks and sends none.
    public var isICELite = false
    /// The media sections in order; an answer must keep this order.
    public var media: [MediaDescription] = []

    /// Parses an offer or an answer in UTF-8, with lines that end in CRLF or LF. Unknown attributes are skipped.
    ///
    /// - Throws: ``SDPError`` if it doesn't begin as SDP does, if a line is malformed, or if a limit is exceeded.
    public init(parsing text: [UInt8]) throws(SDPError) {
        let lines = try SDPLine.lines(of: text)
        guard let first = lines.first, first.type == "v", first.value == "0" else { throw .notSDP }
        var session = MediaSectionParser()
        var section: MediaSectionParser?
        for line in lines {
            switch line.type {
            case "m":
                if let section { media.append(try section.finish(inheriting: session)) }
                guard media.count < Self.maxMediaSections else { throw .tooManyMediaSections }
                section = try MediaSectionParser(mediaLine: line)
            case "a":
                if section != nil {
                    try section?.read(attribute: line)
                } else if line.attribute.name == "group" {
                    let words = line.attribute.value.words
                    guard let semantics = words.first else { throw line.malformed("a group without a name") }
                    groups.append(Group(semantics: String(semantics), mids: words.dropFirst().map { String($0) }))
                } else if line.attribute.name == "ice-lite" {
                    isICELite = true
                } else {
                    try session.read(attribute: line)
                }
            default:
                continue
            }
        }
        if let section { media.append(try section.finish(inheriting: session)) }
        var mids: Set<String> = []
        for case .some(let mid) in media.map(\.mid) where !mids.insert(mid).inserted { throw .duplicateMid(mid) }
    }

    /// Parses an offer or an answer. Throws the errors of the initialiser above.
    public init(parsing text: String) throws(SDPError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// The BUNDLE group that contains `mid`.
    func bundle(of mid: String?) -> Group? {
        guard let mid else { return nil }
        return groups.first { $0.semantics == "BUNDLE" && $0.mids.contains(mid) }
    }

    /// The media section whose transport attributes apply to `section`: a bundled section may leave them to the first
    /// section of its group (RFC 9143 section 7.1.3).
    func transportSection(of section: MediaDescription) -> MediaDescription? {
        guard let first = bundle(of: section.mid)?.mids.first else { return nil }
        return media.first { $0.mid == first }
    }
}
