import Clocks
import MediaTypes
import RoomConnections
import Signalling
import Synchronization

/// The sessions of the tracks that are read.
extension RoomEngine {
    // MARK: Readers, on any thread

    /// Adds a reader of a track. Returns nil, with the reader's end, if the room has no such track.
    func add(_ queue: FrameQueue) -> UInt64? {
        let id = shared.withLock { shared -> UInt64? in
            guard shared.phase == .running, shared.tracks.contains(queue.track) else { return nil }
            let id = shared.nextNumber()
            shared.readers[id] = queue
            return id
        }
        guard id != nil else {
            queue.finish()
            return nil
        }
        thread.post { self.updateSessions() }
        return id
    }

    func removeReader(_ id: UInt64) {
        // Released outside the lock.
        let queue = shared.withLock { $0.readers.removeValue(forKey: id) }
        if queue != nil { thread.post { self.updateSessions() } }
    }

    /// Asks the host for a key frame of a track that is received.
    func requestKeyFrame(of track: String) {
        thread.post { self.sessions[track]?.connection?.requestKeyFrame() }
    }

    /// On a connection's thread.
    private func take(_ event: WHEPConnection.Event, of track: String, _ number: Int) {
        switch event {
        case .frame(let frame): deliver(frame, of: track, number)
        case .connected: thread.post { self.connected(track, number) }
        case .path: break
        case .ended(let end): thread.post { self.sessionEnded(end, of: track, number) }
        }
    }

    private func deliver(_ frame: ReceivedFrame, of track: String, _ number: Int) {
        let kind = frame.codec.kind
        let queues = shared.withLock { shared -> [FrameQueue] in
            // Of a session that was given up, the last frames may still come.
            guard shared.sessionNumbers[track] == number else { return [] }
            return shared.readers.values.filter { $0.track == track && $0.kind == kind }
        }
        for queue in queues { queue.push(frame) }
    }

    // MARK: On the engine's thread

    /// Takes the names of the room's tracks.
    func tracksChanged(to names: [String]) {
        let (gone, came, ended) = shared.withLock { shared -> ([String], [String], [FrameQueue]) in
            let gone = shared.tracks.filter { !names.contains($0) }
            let came = names.filter { !shared.tracks.contains($0) }
            shared.tracks = names
            let ended = shared.readers.filter { gone.contains($0.value.track) }
            for id in ended.keys { shared.readers[id] = nil }
            return (gone, came, Array(ended.values))
        }
        for queue in ended { queue.finish() }
        for name in gone { news.post(.trackEnded(name)) }
        for name in came { news.post(.trackAppeared(name)) }
        updateSessions()
    }

    /// Begins and ends sessions, as the readers need them.
    func updateSessions() {
        thread.check()
        let wanted = wantedTracks
        for (track, session) in sessions where !wanted.contains(track) {
            session.connection?.abandon()
            sessions[track] = nil
        }
        guard isInside else { return }
        for track in wanted where sessions[track] == nil { open(track) }
    }

    private var wantedTracks: Set<String> {
        shared.withLock { shared in
            guard shared.phase != .over else { return [] }
            switch place {
            case .room: return Set(shared.readers.values.map(\.track)).intersection(shared.tracks)
            case .endpoint: return [RoomPlace.onlyTrack]
            }
        }
    }

    private func open(_ track: String) {
        let number = nextNumber()
        sessions[track, default: TrackSession()].attempts.begin(number, at: .now())
        shared.withLock { $0.sessionNumbers[track] = number }
        guard let server = place.source(of: track) else { return }
        do throws(ConnectionEnd) {
            let connection = try WHEPConnection(to: server, through: servers) { [weak self] event in
                self?.take(event, of: track, number)
            }
            sessions[track]?.connection = connection
        } catch {
            sessionEnded(error, of: track, number)
        }
    }

    private func connected(_ track: String, _ number: Int) {
        thread.check()
        guard sessions[track]?.attempts.number == number else { return }
        sessions[track]?.attempts.connected(at: .now())
        guard case .endpoint = place else { return }
        news.post(.joined)
        tracksChanged(to: [RoomPlace.onlyTrack])
    }

    private func sessionEnded(_ end: ConnectionEnd, of track: String, _ number: Int) {
        thread.check()
        guard var session = sessions[track], session.attempts.number == number, !session.attempts.isWaiting else {
            return
        }
        session.connection?.abandon()
        session.connection = nil
        session.attempts.ended(at: .now())
        sessions[track] = session
        // In a room, the connection to the room tells whether the link is still good.
        guard case .endpoint = place else { return }
        guard end.mayPass else { return finish(RoomEnd(end)) }
        news.post(.reconnecting(end.description)) { $0.isReconnecting }
    }

    func pollSessions(at now: MonotonicTime) {
        for (track, session) in sessions {
            if session.attempts.isLate(at: now) {
                sessionEnded(Attempts.late, of: track, session.attempts.number)
            } else if isInside, session.attempts.isDue(at: now) {
                open(track)
            }
        }
    }
}
