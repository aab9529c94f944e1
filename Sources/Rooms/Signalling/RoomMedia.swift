/// The media layer of one track, as signalling sees it: sessions with viewers, snapshots and the pointer.
public protocol RoomMedia: Sendable {
    /// Answers a viewer's offer. Returns quickly and never blocks. Called on the signalling thread.
    ///
    /// `onEnd` is called at most once, on any thread, when the session ends on its own, with the reason as text. It is
    /// not called after `close`.
    func open(offer sdp: String, onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OpenedSession

    /// Opens a session with an offer from the host, for a viewer that waits for one. Returns quickly and never blocks.
    /// Called on the signalling thread; `onEnd` is as in `open`.
    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OfferedSession

    /// Accepts the viewer's answer to what `offer` returned, within 30 s. If an answer is refused, the session is over.
    /// A second answer is always refused and so also ends the session. `onEnd` may still be called afterwards, but
    /// tells nothing new.
    func accept(answer sdp: String, for session: MediaSessionID) throws(MediaRefusal)

    /// Restarts ICE for a session with the viewer's new user fragment and password in `fragment` (RFC 8840). The
    /// session, its keys and its pictures continue. If this throws, the old ICE generation continues as well.
    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession

    /// Ends a session. Unknown ids are ignored. Called on the signalling thread.
    func close(_ session: MediaSessionID)

    /// Adds the viewer's candidates, which an ICE-lite host doesn't need. `fragment` is a candidate line or a
    /// trickle-ice-sdpfrag (RFC 8840).
    func remoteCandidates(_ session: MediaSessionID, fragment: String)

    /// Encodes the last picture as a file; wakes a paused source. `completion` is called once, on any thread. If
    /// `isWanted` returns false, nobody waits any longer and no file needs to be made. As long as a file is kept, the
    /// same picture in the same format is the same file.
    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotFailure>) -> Void)

    /// Draws the pointer into the room's pictures, or leaves it out. Called on the signalling thread.
    func setPointerDrawn(_ isDrawn: Bool)

    /// Reports whether the pointer is drawn into the pictures of `session`, for the first picture and at each change,
    /// with the picture's RTP timestamp in that session. Called on the signalling thread; `onChange` is called on any
    /// thread.
    func watchPointer(
        _ session: MediaSessionID, onChange: @escaping @Sendable (_ isDrawn: Bool, _ timestamp: UInt32) -> Void)
}

extension RoomMedia {
    /// The default for a media layer that only answers offers.
    public func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OfferedSession {
        throw .unsupported("this host makes no offers")
    }
    /// The default for a media layer that only answers offers.
    public func accept(answer sdp: String, for session: MediaSessionID) throws(MediaRefusal) {
        throw .unsupported("this host has made no offer")
    }
    /// The default for a media layer that can't restart ICE.
    public func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession {
        throw .unsupported("this host doesn't restart ICE")
    }
    /// The default for a media layer whose pictures always contain the pointer, or never do.
    public func setPointerDrawn(_ isDrawn: Bool) {}
    /// The default for a media layer whose pictures always contain the pointer, or never do.
    public func watchPointer(
        _ session: MediaSessionID, onChange: @escaping @Sendable (_ isDrawn: Bool, _ timestamp: UInt32) -> Void
    ) {}
}

/// The media layer's identifier of one viewer's session.
public struct MediaSessionID: Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A session that the media layer has opened.
public struct OpenedSession: Sendable {
    public let id: MediaSessionID
    /// The SDP answer, with all of the host's candidates.
    public let answer: String
    /// The tag of the session's ICE generation for `ETag` (RFC 9725 section 4.3.1), without quotes.
    public let entityTag: String

    public init(id: MediaSessionID, answer: String, entityTag: String) {
        self.id = id
        self.answer = answer
        self.entityTag = entityTag
    }
}

/// A session that the media layer has opened with its own offer.
public struct OfferedSession: Sendable {
    public let id: MediaSessionID
    /// The SDP offer, with all of the host's candidates.
    public let offer: String

    public init(id: MediaSessionID, offer: String) {
        self.id = id
        self.offer = offer
    }
}

/// A session whose ICE has been restarted.
public struct RestartedSession: Sendable {
    /// The host's new user fragment, password and candidates, as application/trickle-ice-sdpfrag.
    public let fragment: String
    /// The tag of the new ICE generation for `ETag`, without quotes.
    public let entityTag: String

    public init(fragment: String, entityTag: String) {
        self.fragment = fragment
        self.entityTag = entityTag
    }
}

/// Why the media layer rejects an offer. The text is for the viewer's user.
public enum MediaRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not an SDP offer, answer or fragment. HTTP 400.
    case badOffer(String)
    /// No picture can be sent in response to this offer, for example because it lacks H.264. HTTP 422.
    case unsupported(String)
    /// The limit of viewers is reached. HTTP 503.
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
    /// The picture couldn't be encoded as a file. HTTP 500.
    case failed(String)
}

/// The state of a source, as its viewers are told.
public enum SourceState: String, Sendable {
    /// No picture has arrived yet.
    case waiting
    /// Pictures arrive, or would if the screen changed.
    case live
    /// The source shows nothing on purpose; the last picture remains.
    case paused
    /// The capture has ended; the last picture remains, and the capture may come back.
    case gone
}
