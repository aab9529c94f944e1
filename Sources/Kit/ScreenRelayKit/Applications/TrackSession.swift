import Ingest
public import MediaSessions
public import MediaTypes
import TrackHub
import WebRTC

/// A peer that gets a track over WebRTC, for an application that does the signalling: the same packets as a viewer. For
/// as long as it lives, it counts as a reader that can't draw the pointer; once the peer has answered, it is a viewer
/// of the track.
///
/// The session ends when this object is released. Methods may be called on any thread, and don't block.
public final class TrackSession: Sendable {
    /// Our SDP, with all of our candidates: the offer, or the answer to the peer's.
    public let description: String
    private let id: MediaSessionID
    private let server: MediaServer
    private let readers: PointerlessReaders

    init(_ id: MediaSessionID, _ description: String, of server: MediaServer, _ readers: PointerlessReaders) {
        self.id = id
        self.description = description
        self.server = server
        self.readers = readers
        readers.applications(by: 1)
    }

    deinit {
        close()
        readers.applications(by: -1)
    }

    /// Applies the peer's answer to our offer. If the answer can't be used, the session is over, and `onEnd` isn't
    /// called. Throws `MediaSessionError` with the reason.
    public func accept(answer: String) throws(MediaSessionError) { try server.accept(answer: answer, for: id) }

    /// Sends the peer a check about once per second from now on. Called once, after the answer.
    ///
    /// - Parameters:
    ///   - timeout: how long the peer may be silent once the session is connected.
    ///   - onConnect: called on the media thread when the session is connected; it must not block.
    public func enableKeepalive(timeout: Interval, onConnect: @escaping @Sendable () -> Void) {
        server.enableKeepalive(id, timeout: timeout, onConnect: onConnect)
    }

    /// Adds a candidate of the peer, a line with or without "a=".
    public func add(candidate: String) { server.remoteCandidates(id, fragment: candidate) }

    /// The statistics of the media sent so far, at most about a second old; nil if the session isn't open.
    public var statistics: PeerStatistics? { server.statistics(of: id) }

    /// Ends the session before the release. Further calls do nothing.
    public func close() { server.close(id) }
}

extension HostedTrack {
    /// Offers the track to a peer, which has 30 s to answer.
    ///
    /// - Parameters:
    ///   - kinds: the media that the peer gets: pictures, sound, or both. Offered sound may start later, or never. A
    ///     server gets silence in its place once the track's sound has a source.
    ///   - controlling: whether the host makes ICE's checks and nominates, as servers expect it; browsers do it
    ///     themselves.
    ///   - onEnd: called at most once, on any thread, with the reason in words when the session ends by itself; it must
    ///     not block.
    /// - Throws: `full` if the limit of sessions is reached or the host ends.
    public func offer(
        _ kinds: Set<TrackFormat.Kind> = [.video, .audio], controlling: Bool = false,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> TrackSession {
        let source =
            if !kinds.contains(.video) {
                WatchedSource(audio: sound)
            } else if !kinds.contains(.audio) {
                WatchedSource(video: ingest.hub)
            } else {
                media.source
            }
        let session = try media.server.offer(watching: source, controlling: controlling, onEnd: onEnd)
        return TrackSession(session.id, session.offer, of: media.server, readers)
    }

    /// Answers a peer's offer, which has to accept a video, by sending it the track and its sound. `onEnd` is as in
    /// ``offer(_:controlling:onEnd:)``.
    ///
    /// - Throws: `MediaSessionError` if the offer can't be read or accepts no H.264 video, or if there is no room for
    ///   another session.
    public func answer(
        _ offer: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> TrackSession {
        let session = try media.server.open(offer: offer, watching: media.source, onEnd: onEnd)
        return TrackSession(session.id, session.answer, of: media.server, readers)
    }
}
