import Ingest
public import MediaSessions
public import MediaTypes
import TrackHub
import WebRTC

/// A WebRTC session that the host offers to a server of others, which gets the same packets of a track as a viewer. It
/// counts as a viewer who can't draw the pointer, and ends when it is released. Any thread.
public final class OutgoingSession: Sendable {
    /// The SDP offer, with all of the host's candidates.
    public let offer: String

    private let id: MediaSessionID
    private let server: MediaServer
    private let readers: PointerlessReaders

    fileprivate init(_ session: OfferedSession, of server: MediaServer, _ readers: PointerlessReaders) {
        (offer, id, self.server, self.readers) = (session.offer, session.id, server, readers)
        readers.applications(by: 1)
    }

    deinit {
        close()
        readers.applications(by: -1)
    }

    /// Accepts the server's answer, once and within 30 s of the offer.
    ///
    /// - Parameters:
    ///   - patience: how long the server may be silent once the session is connected. It is asked for a sign of life
    ///     about once a second.
    ///   - onConnect: called on the media thread when the session is connected; it must not block.
    public func accept(
        answer: String, patience: Interval, onConnect: @escaping @Sendable () -> Void
    ) throws(MediaRefusal) {
        try server.accept(answer: answer, for: id)
        server.attend(id, patience: patience, onConnect: onConnect)
    }

    /// What was sent so far, at most about a second old; nil if the session isn't open.
    public var statistics: PeerStatistics? { server.statistics(of: id) }

    /// Ends it. Further calls do nothing.
    public func close() { server.close(id) }
}

extension HostedTrack {
    /// Offers a WebRTC session that sends the track, in which the host makes ICE's checks.
    ///
    /// - Parameters:
    ///   - withSound: whether it also sends the track's sound, if there is any now or later.
    ///   - onEnd: called once on the media thread with the reason in words when the session is over, but not if
    ///     ``OutgoingSession/accept(answer:patience:onConnect:)`` threw; it must not block.
    public func offerSession(
        withSound: Bool, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaRefusal) -> OutgoingSession {
        let source = withSound ? media.source : WatchedSource(video: ingest.hub)
        let session = try media.server.offer(watching: source, controlling: true, onEnd: onEnd)
        return OutgoingSession(session, of: media.server, readers)
    }
}
