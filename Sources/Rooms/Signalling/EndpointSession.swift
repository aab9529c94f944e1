import SDP

/// A session that a client made by `POST` to `/whep` or `/whip`: what its URL stands for until `DELETE` or the media side ends it
/// (RFC 9725 section 4.2).
protocol EndpointSession {
    var room: String { get }
    /// What later requests of its client are judged by.
    var ice: ICEGenerations { get set }

    /// Takes candidates that the client found later.
    func take(candidates fragment: String)

    /// Begins ICE anew with the credentials of `fragment`.
    func restartICE(fragment: String) throws(MediaRefusal) -> RestartedSession

    /// Ends it from this side; `name` is its URL's last segment.
    func end(_ name: String, at site: Site)
}

/// The client's ICE generation in a session, and the one that it left behind (RFC 9725 section 4.3).
struct ICEGenerations {
    /// Names the present one.
    private(set) var tag: EntityTag
    /// That of the client's offer, or of its last restart.
    private var present: TrickleFragment
    /// The one before its last restart.
    private var former: TrickleFragment?

    /// What a fragment means for a session.
    enum Step {
        /// Candidates of the present generation.
        case trickle
        /// Candidates that came late, which must not bring back what the client has left behind.
        case leftBehind
        /// A new generation.
        case restart
    }

    /// Of a session that `offer` began.
    init(of offer: TrickleFragment, tag: String) {
        present = offer
        self.tag = EntityTag(text: tag)
    }

    /// A restart is told from a trickle by its credentials, not by `If-Match: *`: players send that with candidates too.
    func step(of fragment: TrickleFragment) -> Step {
        if fragment.isTrickle(for: present) { return .trickle }
        if let former, fragment.isTrickle(for: former) { return .leftBehind }
        return .restart
    }

    /// The client has begun ICE anew with `fragment`.
    mutating func restart(with fragment: TrickleFragment, tag: String) {
        former = present
        present = fragment
        self.tag = EntityTag(text: tag)
    }
}
