public import MediaTypes

/// The sessions of a media server with its peers, by their identifiers.
///
/// Methods return quickly, never block, and may be called on any thread.
public protocol SessionServer: Sendable {
    /// Accepts the viewer's answer to an offer of the server's, which waits for it for 30 s. If the answer can't be
    /// used, the session ends. A second answer is refused, and the session continues. Throws `badOffer` or
    /// `unsupported`.
    func accept(answer: String, for session: MediaSessionID) throws(MediaSessionError)

    /// Restarts ICE for a session with the peer's new user fragment and password in `fragment` (RFC 8840). The session,
    /// its keys and its pictures continue. If this throws, the old ICE generation continues as well.
    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaSessionError) -> RestartedSession

    /// Ends a session. Unknown ids are ignored.
    func close(_ session: MediaSessionID)

    /// Adds candidates of the peer's that came after its description, so that the server sends requests to them: a NAT
    /// in front of the server then lets the peer's packets in. `fragment` is a candidate line or a trickle-ice-sdpfrag
    /// (RFC 8840). Names, and candidates beyond a limit, are ignored.
    func remoteCandidates(_ session: MediaSessionID, fragment: String)

    /// Has the peer hold back each picture of `session` for `delay`, at most 500 ms, so that the picture comes with its
    /// sound, which players delay. Before the first call, a peer that can decides that itself while there is sound.
    /// Unknown ids are ignored.
    func setPlayoutDelay(of session: MediaSessionID, to delay: Interval)

    /// Reports whether the pointer is drawn into the pictures of `session`: with the first picture, and with each that
    /// differs in this from the one before, as that picture is sent. `onChange` is called on any thread. Unknown ids
    /// are ignored.
    func watchPointer(_ session: MediaSessionID, onChange: @escaping @Sendable (PointerChange) -> Void)

    /// Notes that a viewer of whole pictures has received the one with this number and all before it, and has handed
    /// them to its decoder. 0 confirms that the session's beginning has reached it. Unknown ids and numbers are
    /// ignored.
    func confirmPictures(of session: MediaSessionID, through number: UInt32)

    /// Notes that a viewer of whole pictures can't go on without a key picture. It gets one, but not at any rate.
    /// Unknown ids are ignored.
    func requestKeyPicture(for session: MediaSessionID)

    /// Begins to send a viewer of whole pictures the sound beside them, from now on, or ends that. Without a call, it
    /// gets none. Unknown ids are ignored.
    func setAudioEnabled(_ isOn: Bool, for session: MediaSessionID)

    /// The statistics of a viewer's session, at most about a second old; nil if there is no such session.
    func statistics(of session: MediaSessionID) -> PeerStatistics?
}

/// Why the media layer has ended a session.
public enum SessionEnd: Sendable, Hashable, CustomStringConvertible {
    /// The peer has closed the connection (DTLS's close_notify).
    case byPeer
    /// The session was closed, was lost or has failed, for this reason in words.
    case other(String)

    public var description: String {
        switch self {
        case .byPeer: "the peer closed the connection"
        case .other(let reason): reason
        }
    }
}

/// A session's number in its media server; never reused.
public struct MediaSessionID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }
}

/// A session that was opened with the peer's offer.
public struct OpenedSession: Sendable {
    /// The session's identifier.
    public let id: MediaSessionID
    /// The SDP answer, with all of the server's candidates.
    public let answer: String
    /// The tag of the session's ICE generation for `ETag` (RFC 9725 section 4.3.1), without quotes. It is the server's
    /// user name fragment, which is not secret.
    public let entityTag: String

    public init(id: MediaSessionID, answer: String, entityTag: String) {
        self.id = id
        self.answer = answer
        self.entityTag = entityTag
    }
}

/// A session that was opened with the server's own offer.
public struct OfferedSession: Sendable {
    /// The session's identifier.
    public let id: MediaSessionID
    /// The SDP offer, with all of the server's candidates.
    public let offer: String

    public init(id: MediaSessionID, offer: String) {
        self.id = id
        self.offer = offer
    }
}

/// A session whose ICE has been restarted.
public struct RestartedSession: Sendable {
    /// The server's new user fragment, password and candidates, as application/trickle-ice-sdpfrag.
    public let fragment: String
    /// The tag of the new ICE generation for `ETag`, without quotes.
    public let entityTag: String

    public init(fragment: String, entityTag: String) {
        self.fragment = fragment
        self.entityTag = entityTag
    }
}

/// A change of whether the pointer is drawn in a session's pictures, and the picture where it begins.
public struct PointerChange: Sendable, Hashable {
    /// Whether the pointer is drawn from that picture on.
    public let isDrawn: Bool
    /// The picture's RTP timestamp in this session, as in its packets.
    public let timestamp: UInt32

    public init(isDrawn: Bool, timestamp: UInt32) {
        self.isDrawn = isDrawn
        self.timestamp = timestamp
    }
}

/// Why an offer, an answer or a restart of ICE is refused. The text is for the peer's user.
public enum MediaSessionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not an SDP offer, answer or fragment. HTTP 400.
    case badOffer(String)
    /// No picture can be sent or taken in response to this offer, for example because it lacks H.264. HTTP 422.
    case unsupported(String)
    /// There is no room for another session: a limit is reached, or the host is ending. HTTP 503.
    case full(String)

    public var description: String {
        switch self {
        case .badOffer(let why), .unsupported(let why), .full(let why): why
        }
    }
}
