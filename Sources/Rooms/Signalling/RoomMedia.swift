/// What signalling needs from the media side of a room: sessions with viewers, and the last picture.
public protocol RoomMedia: Sendable {
    /// Answers a viewer's offer; quick, never blocks. Called on the signalling thread.
    ///
    /// `onEnd` is called at most once, on any thread, when the session ended by itself, with the reason in words; not after
    /// `close`.
    func open(offer sdp: String, onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OpenedSession

    /// Opens a session with an offer of ours, for a viewer that waits for one; quick, never blocks. Called on the signalling
    /// thread; `onEnd` as in `open`.
    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OfferedSession

    /// Takes the viewer's answer to what `offer` gave, for which there are 30 s. A session whose answer was refused is over, also by a
    /// second answer, which is always refused; `onEnd` may be called after that and says nothing new.
    func accept(answer sdp: String, for session: MediaSessionID) throws(MediaRefusal)

    /// Begins ICE anew for a session, with the viewer's new user fragment and password of `fragment` (RFC 8840); the session, its
    /// keys and its pictures go on. On an error the old ICE goes on as well.
    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession

    /// Ends a session; unknown ids are ignored. Called on the signalling thread.
    func close(_ session: MediaSessionID)

    /// The viewer's candidates; a host that is ICE-lite needs none. `fragment` is a candidate line or a trickle-ice-sdpfrag
    /// (RFC 8840).
    func remoteCandidates(_ session: MediaSessionID, fragment: String)

    /// The last picture as a file; wakes a paused source. `completion` is called once, on any thread. Where `isWanted` says that
    /// nobody waits any more, nothing need be made. The same picture in the same format is the same file while that is kept.
    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotFailure>) -> Void)

    /// Has the pointer drawn into the room's pictures, or left out of them. Called on the signalling thread.
    func setPointerDrawn(_ isDrawn: Bool)

    /// Tells for the first picture of `session`, and for each that differs from the one before, whether the pointer is drawn in
    /// it, and its RTP time stamp in that session. Called on the signalling thread; `onChange` on any.
    func watchPointer(
        _ session: MediaSessionID, onChange: @escaping @Sendable (_ isDrawn: Bool, _ timestamp: UInt32) -> Void)
}

extension RoomMedia {
    /// For a media side that answers alone.
    public func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OfferedSession {
        throw .unsupported("this host makes no offers")
    }
    /// For a media side that answers alone.
    public func accept(answer sdp: String, for session: MediaSessionID) throws(MediaRefusal) {
        throw .unsupported("this host has made no offer")
    }
    /// For a media side whose sessions keep the ICE that they began with.
    public func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession {
        throw .unsupported("this host doesn't restart ICE")
    }
    /// For a media side whose pictures always have the pointer, or never.
    public func setPointerDrawn(_ isDrawn: Bool) {}
    /// For a media side whose pictures always have the pointer, or never.
    public func watchPointer(
        _ session: MediaSessionID, onChange: @escaping @Sendable (_ isDrawn: Bool, _ timestamp: UInt32) -> Void
    ) {}
}

/// The media side's name for one viewer's session.
public struct MediaSessionID: Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A session that the media side has opened.
public struct OpenedSession: Sendable {
    public let id: MediaSessionID
    /// The SDP answer, with all of the host's candidates.
    public let answer: String
    /// Names the session's ICE generation in `ETag` (RFC 9725 section 4.3.1), without quotes.
    public let entityTag: String

    public init(id: MediaSessionID, answer: String, entityTag: String) {
        self.id = id
        self.answer = answer
        self.entityTag = entityTag
    }
}

/// A session that the media side has opened by an offer of its own.
public struct OfferedSession: Sendable {
    public let id: MediaSessionID
    /// The SDP offer, with all of the host's candidates.
    public let offer: String

    public init(id: MediaSessionID, offer: String) {
        self.id = id
        self.offer = offer
    }
}

/// A session whose ICE has begun anew.
public struct RestartedSession: Sendable {
    /// The host's new user fragment, password and candidates, as application/trickle-ice-sdpfrag.
    public let fragment: String
    /// Names the new ICE generation in `ETag`, without quotes.
    public let entityTag: String

    public init(fragment: String, entityTag: String) {
        self.fragment = fragment
        self.entityTag = entityTag
    }
}

/// Why the media side doesn't take an offer; the text is for the viewer's user.
public enum MediaRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not an SDP offer, answer or fragment. HTTP 400.
    case badOffer(String)
    /// An offer with which no picture can be sent, say for the lack of H.264. HTTP 422.
    case unsupported(String)
    /// As many viewers as there may be. HTTP 503.
    case full(String)

    public var description: String {
        switch self {
        case .badOffer(let why), .unsupported(let why), .full(let why): why
        }
    }
}

/// The file format of a snapshot.
public enum SnapshotFormat: String, Sendable, CaseIterable {
    case png
    case jpeg = "jpg"

    var contentType: String {
        switch self {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        }
    }
}

/// Why there is no snapshot.
public enum SnapshotFailure: Error, Sendable, Equatable {
    /// Nothing has been captured yet. HTTP 503.
    case noPicture
    /// The picture couldn't be made a file. HTTP 500.
    case failed(String)
}

/// What viewers are told about where the picture comes from.
public enum SourceState: String, Sendable {
    /// No picture has come yet.
    case waiting
    /// Pictures come, or would if the screen changed.
    case live
    /// The source shows nothing on purpose; the last picture stays.
    case paused
    /// Capture is gone; the last picture stays and capture may come back.
    case gone
}
