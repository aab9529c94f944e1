public import MediaSessions
import WebRTC

/// A peer that gets a track with its sound over WebRTC, for an application that does the signalling itself. For as long as
/// it lives, it counts as a reader that can't draw the pointer; once the peer has answered, it is a viewer of the track.
///
/// The session ends when this object is released. Methods may be called on any thread, and don't block.
public final class TrackSession: Sendable {
    /// Our SDP, with all of our candidates: the offer, or the answer to the peer's.
    public let description: String
    private let id: MediaSessionID
    private let server: MediaServer
    private let readers: PointerlessReaders

    init(_ id: MediaSessionID, _ description: String, of server: MediaServer, _ readers: PointerlessReaders) {
        (self.id, self.description, self.server, self.readers) = (id, description, server, readers)
        readers.applications(by: 1)
    }

    deinit {
        readers.applications(by: -1)
        server.close(id)
    }

    /// Takes the peer's answer to our offer. If it can't be used, the session is over, and nobody is told so again.
    public func accept(answer: String) throws(MediaRefusal) { try server.accept(answer: answer, for: id) }

    /// Takes a candidate of the peer's, a line with or without "a=".
    public func add(candidate: String) { server.remoteCandidates(id, fragment: candidate) }
}

extension HostedTrack {
    /// Offers the track and its sound to a peer, which has 30 s to answer.
    ///
    /// - Parameter onEnd: called at most once, on any thread, with the reason in words when the session ends by itself.
    public func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> TrackSession {
        let session = try media.server.offer(watching: media.source, onEnd: onEnd)
        return TrackSession(session.id, session.offer, of: media.server, readers)
    }

    /// Answers a peer's offer, which has to take a video, by sending it the track and its sound. `onEnd` is as in
    /// ``offer(onEnd:)``.
    public func answer(
        _ offer: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaRefusal) -> TrackSession {
        let session = try media.server.open(offer: offer, watching: media.source, onEnd: onEnd)
        return TrackSession(session.id, session.answer, of: media.server, readers)
    }
}
