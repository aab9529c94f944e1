import MediaSessions
import MediaTypes

/// What other threads ask of the media thread.
extension MediaLoop {
    func perform(_ commands: [MediaCommand], now: MonotonicTime) {
        for command in commands {
            switch command {
            case .open(let parameters, let tracks, let callback):
                unanswered[parameters.id] = nil
                add(parameters, .watching(WatchedTracks(tracks, feed: feed(of:))), callback, now: now)
            case .publish(let parameters, let publications, let callback):
                add(parameters, .publishing(PublishedTracks(publications)), callback, now: now)
            case .openFrameViewer(let request):
                openFrameViewer(request, now: now)
            case .confirmPictures(let id, let number, let arrival):
                withFrameViewer(id) { $0.confirm(through: number, arrival: arrival, now: now) }
            case .setAudioEnabled(let isOn, let id):
                setAudioEnabled(isOn, for: id, now: now)
            case .requestKeyFrame(let id):
                withFrameViewer(id) { $0.requestKeyPicture(now: now) }
                guard let session = sessions[id] else { continue }
                session.requestKeyFrame(now: now)
                note(session)
            case .expectAnswer(let id, let deadline, let giveUp):
                unanswered[id] = (deadline, giveUp)
                nextDeadline = min(nextDeadline, deadline)
            case .restartICE(let id, let agent):
                sessions.restartICE(id, with: agent)
            case .candidates(let id, let candidates):
                add(candidates, to: id, now: now)
            case .stunServers(let addresses):
                resolved(addresses, now: now)
            case .close(let id):
                unanswered.removeValue(forKey: id)?.giveUp("closed")
                endFrameViewer(id, "closed")
                guard let session = sessions[id] else { continue }
                session.close(now: now)
                remove(session)
            case .watchPointer(let id, let onChange):
                sessions[id]?.watched?.watchPointer(onChange)
            case .enableKeepalive(let id, let timeout, let onConnect):
                guard let session = sessions[id] else { continue }
                session.enableKeepalive(timeout: timeout, onConnect: onConnect, now: now)
                note(session)
            case .watchPath(let id, let onChange):
                sessions[id]?.watchPath(onChange)
            case .setPlayoutDelay(let id, let delay):
                sessions[id]?.watched?.requestedPlayoutDelay = delay
            case .datagrams, .takeConnection, .closeConnection:
                arrivals.append(command)
            case .stop:
                isStopped = true
            }
        }
    }

    private func add(
        _ parameters: SessionParameters, _ role: SessionRole, _ callback: @escaping @Sendable (SessionEnd) -> Void,
        now: MonotonicTime
    ) {
        let session = PeerSession(parameters, role: role, context: context, sink: self, now: now)
        sessions.add(session, now: now, onEnd: callback)
        enlist(session)
        note(session)
        while let oldest = sessions.takeSuperfluous(now: now) {
            oldest.close(now: now, reason: Self.superfluous)
            remove(oldest)
        }
    }

    /// Answers a command that was posted after the end of the media thread.
    func refuse(_ command: MediaCommand) {
        switch command {
        case .open(_, _, let callback), .publish(_, _, let callback): callback(.other(Self.ending))
        case .expectAnswer(_, _, let giveUp): giveUp(Self.ending)
        case .openFrameViewer(let request): request.onEnd(Self.ending)
        case .close, .restartICE, .candidates, .stunServers, .setPlayoutDelay, .watchPointer, .watchPath,
            .enableKeepalive, .requestKeyFrame, .confirmPictures, .setAudioEnabled, .datagrams, .takeConnection,
            .closeConnection, .stop:
            break
        }
    }
}
