import Dispatch
import Ingest
import MediaSessions
import MediaTypes
import Signalling
import Synchronization
import Threading
import TrackHub
import WebRTC

/// The tracks that publishers can become the source of.
protocol PublishableTracks: AnyObject, Sendable {
    /// The track with this name. Made if the room has none.
    func publishableTrack(_ name: String, in room: String) throws(HostError) -> HostedTrack
    /// Removes a track without a publisher, unless it was not made for a publisher, or has a new source or claim.
    func removeUnpublished(_ name: String, from room: String)
}

/// Accepts publishers (WHIP): each gets a session of the media server and becomes the source of a track.
///
/// A track that was made for a publisher stays for a while after the publisher leaves, so that it can come back and its
/// viewers keep watching.
final class RoomPublishing: TrackPublishing {
    /// How long a track without a publisher is kept.
    static let timeout = Interval.seconds(60)

    /// Calls `action` on any thread after this time.
    typealias Schedule = @Sendable (_ time: Interval, _ action: @escaping @Sendable () -> Void) -> Void
    static let dispatched: Schedule = { time, action in
        let deadline = DispatchTime.now() + .milliseconds(Int(time.milliseconds))
        DispatchQueue.global().asyncAfter(deadline: deadline) { action() }
    }

    private let media: MediaServer
    private let timeout: Interval
    private let schedule: Schedule
    private let log: EventLog
    private let state = Mutex(State())

    private struct TrackKey: Hashable {
        let room: String
        let track: String
    }

    private struct Session {
        let source: PublishedSource
        let key: TrackKey
    }

    private struct State {
        weak var tracks: (any PublishableTracks)?
        var sessions: [MediaSessionID: Session] = [:]
        /// The last source of each track.
        var last: [TrackKey: PublishedSource] = [:]
    }

    /// Accepts publishers for `media`. A track without a publisher is kept for `timeout`, which `schedule` waits.
    init(
        media: MediaServer, timeout: Interval = RoomPublishing.timeout,
        schedule: @escaping Schedule = RoomPublishing.dispatched, log: EventLog
    ) {
        self.media = media
        self.timeout = timeout
        self.schedule = schedule
        self.log = log
    }

    /// Sets the tracks. Before this call, no one can publish.
    func connect(_ tracks: any PublishableTracks) {
        state.withLock { $0.tracks = tracks }
    }

    func publish(
        offer sdp: String, room: String, track: String, presenter: Presenter? = nil,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingError) -> OpenedSession {
        guard let source = PublishedSource(log: log) else {
            throw .offer(.full("the host has no descriptor left"))
        }
        // Open the session first, so that an offer that can't be answered makes no track.
        let (opened, answersKeyFrameRequests) = try open(sdp, source, presenter, onEnd: onEnd)
        let media = self.media
        let key = TrackKey(room: room, track: track)
        do throws(PublishingError) {
            let hosted = try self.hostedTrack(track, in: room)
            // A viewer that has the turn mustn't get into what the host pushes, or into another source's recording.
            guard presenter == nil || hosted.endsUnpublished else {
                throw .taken("the track \(track) isn't one for pages; share under another name")
            }
            let predecessor = state.withLock { $0.last[key] }
            let ask: @Sendable () -> Void = { media.requestKeyFrame(of: opened.id) }
            let isAttached = source.attach(
                to: hosted.ingest, recorder: hosted.linkRecorder, after: predecessor,
                askForKeyFrame: answersKeyFrameRequests ? ask : nil,
                onFailure: { media.close(opened.id) })
            guard isAttached else {
                throw .taken(
                    "the track \(track) already has a source; POST to /whip/ROOM/TRACK to make another track")
            }
            if let presenter, hosted.endsUnpublished { hosted.setTag(presenter.tag) }
            source.sound.connect(to: hosted.sound, recorder: hosted.linkRecorder)
            state.withLock { state in
                state.sessions[opened.id] = Session(source: source, key: key)
                state.last[key] = source
            }
        } catch {
            media.close(opened.id)
            // Removes the track again if it was made for this publisher.
            removeLater(key, of: nil)
            throw error
        }
        // The media thread may have ended the session before it was registered, when there was nothing to remove.
        if source.hasEnded { ended(opened.id) }
        return opened
    }

    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaSessionError) -> RestartedSession {
        try media.restartICE(session, fragment: fragment)
    }

    func remoteCandidates(_ session: MediaSessionID, fragment: String) {
        media.remoteCandidates(session, fragment: fragment)
    }

    func hasReceived(_ session: MediaSessionID, since time: MonotonicTime) -> Bool {
        state.withLock { $0.sessions[session] }?.source.hasReceived(since: time) ?? false
    }

    func close(_ session: MediaSessionID, reason: String? = nil) {
        state.withLock { $0.sessions[session] }?.source.end(reason: reason ?? "the publisher has left")
        media.close(session)
    }

    private func open(
        _ sdp: String, _ source: PublishedSource, _ presenter: Presenter?,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingError) -> (session: OpenedSession, answersKeyFrameRequests: Bool) {
        do throws(MediaSessionError) {
            return try media.publish(offer: sdp, to: source) { [weak self] id, end in
                source.end(reason: presenter?.text(ofSessionEnd: end) ?? end.description)
                self?.ended(id)
                onEnd(end.description)
            }
        } catch {
            throw .offer(error)
        }
    }

    // MARK: Tracks

    private func hostedTrack(_ track: String, in room: String) throws(PublishingError) -> HostedTrack {
        guard let tracks = state.withLock({ $0.tracks }) else { throw .offer(.full("the host is ending")) }
        do throws(HostError) {
            return try tracks.publishableTrack(track, in: room)
        } catch {
            guard case .track(_, _, let reason) = error else { throw .offer(.full("\(error)")) }
            throw .offer(.unsupported("the room can't have a track \(track): \(reason)"))
        }
    }

    /// Removes a session that is over, and later its track, unless another publisher comes in time.
    private func ended(_ id: MediaSessionID) {
        guard let session = state.withLock({ $0.sessions.removeValue(forKey: id) }) else { return }
        removeLater(session.key, of: session.source)
    }

    /// Removes the track after a while, unless a source other than `source` has come by then.
    private func removeLater(_ key: TrackKey, of source: PublishedSource?) {
        schedule(timeout) { [weak self] in
            let tracks = self?.state.withLock { state -> (any PublishableTracks)? in
                guard state.last[key] === source else { return nil }
                state.last[key] = nil
                return state.tracks
            }
            tracks?.removeUnpublished(key.track, from: key.room)
        }
    }
}

extension ScreenRelayHost: PublishableTracks {
    package func publishableTrack(_ name: String, in room: String) throws(HostError) -> HostedTrack {
        if let track = track(name, in: room) { return track }
        return try addTrack(name, to: room, endsUnpublished: true)
    }

    package func removeUnpublished(_ name: String, from room: String) {
        guard let track = track(name, in: room), track.endsUnpublished, !track.ingest.hub.hasSource, !track.isClaimed
        else { return }
        log.info("room \(room): no one has published \(name) for a while; removing the track")
        removeTrack(name, from: room)
    }
}
