import Dispatch
import Ingest
import MediaTypes
import Signalling
import Synchronization
import Threading
import TrackHub
import WebRTC

/// The tracks that publishers can be the source of.
protocol PublishableTracks: AnyObject, Sendable {
    /// That track; made where the room has none of that name.
    func publishableTrack(_ name: String, in room: String) throws(HostError) -> HostedTrack
    /// Ends a track that nobody publishes any more; one that wasn't made for a publisher stays, and so does one that another
    /// source has come to.
    func removeUnpublished(_ name: String, from room: String)
}

/// Lets publishers in (WHIP): a session of the media server for each, as the source of a track.
///
/// A track that was made for a publisher outlives it by a while, so that it may come back and its viewers go on.
final class RoomPublishing: TrackPublishing {
    /// How long a track is kept that nobody publishes.
    static let patience = Interval.seconds(60)

    /// Does something on some thread when so much time has gone by.
    typealias Schedule = @Sendable (_ time: Interval, _ action: @escaping @Sendable () -> Void) -> Void
    static let dispatched: Schedule = { time, action in
        let deadline = DispatchTime.now() + .milliseconds(Int(time.milliseconds))
        DispatchQueue.global().asyncAfter(deadline: deadline) { action() }
    }

    private let media: MediaServer
    private let patience: Interval
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
        var sessions: [PeerSessionID: Session] = [:]
        /// The last source of each track that had one.
        var last: [TrackKey: PublishedSource] = [:]
    }

    /// Publishers' sessions of `media`. `patience`: how long a track is kept that nobody publishes; `schedule` waits so long.
    init(
        media: MediaServer, patience: Interval = RoomPublishing.patience,
        schedule: @escaping Schedule = RoomPublishing.dispatched, log: EventLog
    ) {
        self.media = media
        self.patience = patience
        self.schedule = schedule
        self.log = log
    }

    /// Says whose tracks they are; nobody can publish before.
    func connect(_ tracks: any PublishableTracks) {
        state.withLock { $0.tracks = tracks }
    }

    func publish(
        offer sdp: String, room: String, track: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingRefusal) -> OpenedSession {
        guard let source = PublishedSource(log: log) else {
            throw .offer(.full("the host has no descriptor left"))
        }
        // An offer that can't be answered makes no track.
        let opened = try open(sdp, source, onEnd: onEnd)
        let media = self.media
        let key = TrackKey(room: room, track: track)
        do throws(PublishingRefusal) {
            let hosted = try self.hostedTrack(track, in: room)
            let predecessor = state.withLock { $0.last[key] }
            let ask: @Sendable () -> Void = { media.requestKeyFrame(of: opened.id) }
            let isAttached = source.attach(
                to: hosted.ingest, recorder: hosted.linkRecorder, after: predecessor,
                askForIDR: opened.answersKeyFrameRequests ? ask : nil,
                onFailure: { media.close(opened.id) })
            guard isAttached else {
                throw .taken(
                    "the track \(track) has a source already; a POST to /whip/ROOM/TRACK makes another track")
            }
            state.withLock { state in
                state.sessions[opened.id] = Session(source: source, key: key)
                state.last[key] = source
            }
        } catch {
            media.close(opened.id)
            // A track that was made for this publisher goes again.
            removeLater(key, of: nil)
            throw error
        }
        // The media thread may have ended the session before it was registered, and found nothing to end then.
        if source.hasEnded { ended(opened.id) }
        return OpenedSession(
            id: MediaSessionID(rawValue: opened.id.rawValue), answer: opened.answer, entityTag: opened.entityTag)
    }

    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession {
        do throws(OfferRefusal) {
            let restarted = try media.restartICE(PeerSessionID(session.rawValue), fragment: fragment)
            return RestartedSession(fragment: restarted.fragment, entityTag: restarted.entityTag)
        } catch {
            throw MediaRefusal(error)
        }
    }

    func close(_ session: MediaSessionID) {
        let id = PeerSessionID(session.rawValue)
        state.withLock { $0.sessions[id] }?.source.end(reason: "the publisher has left")
        media.close(id)
    }

    private func open(
        _ sdp: String, _ source: PublishedSource, onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingRefusal) -> OpenedPublisher {
        do throws(OfferRefusal) {
            return try media.publish(offer: sdp, to: source) { [weak self] id, reason in
                source.end(reason: reason)
                self?.ended(id)
                onEnd(reason)
            }
        } catch {
            throw .offer(MediaRefusal(error))
        }
    }

    // MARK: Tracks

    private func hostedTrack(_ track: String, in room: String) throws(PublishingRefusal) -> HostedTrack {
        guard let tracks = state.withLock({ $0.tracks }) else { throw .offer(.full("the host is ending")) }
        do throws(HostError) {
            return try tracks.publishableTrack(track, in: room)
        } catch {
            guard case .track(_, _, let reason) = error else { throw .offer(.full("\(error)")) }
            throw .offer(.unsupported("the room can't have a track \(track): \(reason)"))
        }
    }

    /// The session is over; its track goes too, unless another publisher comes in time.
    private func ended(_ id: PeerSessionID) {
        guard let session = state.withLock({ $0.sessions.removeValue(forKey: id) }) else { return }
        removeLater(session.key, of: session.source)
    }

    /// Has a track end that was made for publishers, unless another one than `source` has come by then.
    private func removeLater(_ key: TrackKey, of source: PublishedSource?) {
        schedule(patience) { [weak self] in
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
    func publishableTrack(_ name: String, in room: String) throws(HostError) -> HostedTrack {
        if let track = track(name, in: room) { return track }
        return try addTrack(name, to: room, endsUnpublished: true)
    }

    func removeUnpublished(_ name: String, from room: String) {
        guard let track = track(name, in: room), track.endsUnpublished, !track.ingest.hub.hasSource else { return }
        log.info("room \(room): nobody has published \(name) for a while; the track ends")
        removeTrack(name, from: room)
    }
}
