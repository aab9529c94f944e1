import MediaSessions
import SDP

/// The current ICE generation of a session's client, and the one before it (RFC 9725 section 4.3).
struct ICEGenerations {
    /// The entity tag of the current generation.
    private(set) var tag: EntityTag
    /// The fragment of the client's offer or of its last restart.
    private var present: TrickleFragment
    /// The fragment before the last restart.
    private var former: TrickleFragment?

    /// The meaning of a fragment for a session.
    enum Step {
        /// Candidates of the current generation.
        case trickle
        /// Late candidates of the previous generation, which must not bring that generation back.
        case leftBehind
        /// A new generation.
        case restart
    }

    /// Creates the generations of a session that began with `offer`.
    init(of offer: TrickleFragment, tag: String) {
        present = offer
        self.tag = EntityTag(text: tag)
    }

    /// Tells a restart from a trickle by its credentials, not by `If-Match: *`, because players send that with
    /// candidates too.
    func step(of fragment: TrickleFragment) -> Step {
        if fragment.isTrickle(for: present) { return .trickle }
        if let former, fragment.isTrickle(for: former) { return .leftBehind }
        return .restart
    }

    /// Records that the client has restarted ICE with `fragment`.
    mutating func restart(with fragment: TrickleFragment, tag: String) {
        former = present
        present = fragment
        self.tag = EntityTag(text: tag)
    }
}
