import Clocks
import MediaTypes
import RoomConnections
import Signalling
import Synchronization
import TrackHub
import WebRTCPushing

/// The sessions of the publications.
extension RoomEngine {
    // MARK: On any thread

    /// Adds a publication, which begins once the room is joined.
    func publish(
        _ track: String, _ source: PublicationSource
    ) throws(RoomClientError) -> (id: UInt64, track: PublishedTrack) {
        let published = PublishedTrack(track, source)
        let id = shared.withLock { shared -> UInt64? in
            guard case .room = place, shared.phase == .new || shared.phase == .running else { return nil }
            let id = shared.nextNumber()
            shared.publications[id] = published
            return id
        }
        guard let id else {
            published.end(.left)
            throw .noRoom
        }
        thread.post { self.updatePublications() }
        return (id, published)
    }

    /// Ends a publication.
    func endPublication(_ id: UInt64) {
        let published = shared.withLock { $0.publications.removeValue(forKey: id) }
        guard let published else { return }
        published.end(.left)
        thread.post { self.updatePublications() }
    }

    /// On a connection's thread.
    private func take(_ event: WHIPConnection.Event, of id: UInt64, _ number: Int) {
        switch event {
        case .connected: thread.post { self.published(id, number) }
        case .ended(let end): thread.post { self.publicationEnded(end, id, number) }
        }
    }

    // MARK: On the engine's thread

    /// Begins the sessions of new publications, and ends those of others that are over.
    func updatePublications() {
        thread.check()
        let wanted = shared.withLock { $0.publications }
        for (id, session) in publishing where wanted[id] == nil {
            session.connection?.abandon()
            publishing[id] = nil
        }
        guard isInside else { return }
        for (id, track) in wanted where publishing[id] == nil { open(id, track) }
    }

    private func open(_ id: UInt64, _ track: PublishedTrack) {
        guard case .room(let link, _) = place else { return }
        let number = nextNumber()
        publishing[id, default: PublishingSession()].attempts.begin(number, at: .now())
        do throws(ConnectionEnd) {
            let connection = try WHIPConnection(
                publishing: WatchedSource(video: track.source.hub), to: WebRTCServer(publishing: track.name, in: link),
                through: servers
            ) { [weak self] event in self?.take(event, of: id, number) }
            publishing[id]?.connection = connection
        } catch {
            publicationEnded(error, id, number)
        }
    }

    private func published(_ id: UInt64, _ number: Int) {
        thread.check()
        guard publishing[id]?.attempts.number == number else { return }
        publishing[id]?.attempts.connected(at: .now())
        shared.withLock { $0.publications[id] }?.events.post(.published)
    }

    private func publicationEnded(_ end: ConnectionEnd, _ id: UInt64, _ number: Int) {
        thread.check()
        guard var session = publishing[id], session.attempts.number == number, !session.attempts.isWaiting else {
            return
        }
        session.connection?.abandon()
        session.connection = nil
        session.attempts.ended(at: .now())
        publishing[id] = session
        if end.mayPass {
            shared.withLock { $0.publications[id] }?.events.post(.reconnecting(end.description)) {
                if case .reconnecting = $0 { true } else { false }
            }
        } else {
            publishing[id] = nil
            shared.withLock { $0.publications.removeValue(forKey: id) }?.end(RoomEnd(end))
        }
    }

    func pollPublications(at now: MonotonicTime) {
        for (id, session) in publishing {
            if session.attempts.isLate(at: now) {
                publicationEnded(Attempts.late, id, session.attempts.number)
            } else if isInside, session.attempts.isDue(at: now),
                let track = shared.withLock({ $0.publications[id] })
            {
                open(id, track)
            }
        }
    }
}
