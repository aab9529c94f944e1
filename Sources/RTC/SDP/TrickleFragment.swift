/// The body of a WHIP or WHEP PATCH: `application/trickle-ice-sdpfrag` (RFC 8840, RFC 9725 section 4.3).
///
/// An ICE-lite side needs none of the candidates, as the peer's checks show where it is; new credentials mean an ICE restart.
public struct TrickleFragment: Sendable, Equatable {
    /// The candidates of one media section.
    public struct Section: Sendable, Equatable {
        /// nil where they stand at session level.
        public var mid: String?
        public var candidates: [Candidate] = []
        public var hasEndOfCandidates = false
    }

    public var iceUfrag: String?
    public var icePassword: String?
    /// Those that say anything.
    public var sections: [Section] = []

    /// Reads `text`, under the same limits as a whole description.
    public init(parsing text: [UInt8]) throws(SDPError) {
        var section = Section()
        var mediaSections = 0
        func flushed(_ section: Section) -> [Section] {
            section.candidates.isEmpty && !section.hasEndOfCandidates ? [] : [section]
        }
        for line in try SDPLine.lines(of: text) {
            if line.type == "m" {
                mediaSections += 1
                guard mediaSections <= SessionDescription.maximumMediaSections else { throw .tooManyMediaSections }
                sections += flushed(section)
                section = Section()
            }
            guard line.type == "a" else { continue }
            let (name, value) = line.attribute
            switch name {
            case "ice-ufrag": iceUfrag = iceUfrag ?? String(value)
            case "ice-pwd": icePassword = icePassword ?? String(value)
            case "mid":
                guard value.isVisibleASCII else { throw line.malformed("a mid that is no word") }
                section.mid = String(value)
            case "candidate":
                guard let candidate = Candidate(parsing: value) else { throw line.malformed("not a candidate") }
                section.candidates.append(candidate)
            case "end-of-candidates": section.hasEndOfCandidates = true
            default: break
            }
        }
        sections += flushed(section)
    }
}
