import Clocks
import MediaSessions
import MediaTypes
import Threading
import TrackHub

/// The media thread's viewers of whole pictures.
extension MediaLoop {
    func openFrameViewer(_ request: FrameRequest, now: MonotonicTime) {
        frameViewers[request.id] = FrameViewer(request, feed: feed(of: request.hub))
        lines(of: request.client).info("viewer \(request.id) takes pictures over its WebSocket")
        withFrameViewer(request.id) { $0.advance(now: now) }
    }

    /// Does `change` with a viewer. An unknown identifier is ignored.
    func withFrameViewer(_ id: MediaSessionID, _ change: (inout FrameViewer) -> Void) {
        owner.check()
        guard var viewer = frameViewers.removeValue(forKey: id) else { return }
        change(&viewer)
        if let news = viewer.layers.change { lines(of: viewer.request.client).info("viewer \(id) \(news)") }
        viewer.layers.change = nil
        nextDeadline = viewer.end == nil ? min(nextDeadline, viewer.deadline) : .zero
        frameViewers[id] = viewer
    }

    /// Advances every viewer that is due, and removes those whose session is over.
    func advanceFrameViewers(now: MonotonicTime) {
        for id in Array(frameViewers.keys) {
            withFrameViewer(id) { viewer in
                if viewer.deadline <= now { viewer.advance(now: now) }
            }
            if let reason = frameViewers[id]?.end { endFrameViewer(id, reason) }
        }
    }

    /// Ends a session. An unknown identifier is ignored.
    func endFrameViewer(_ id: MediaSessionID, _ reason: String) {
        guard let viewer = frameViewers.removeValue(forKey: id) else { return }
        viewer.leave(now: .now())
        record.ended.add(viewer.statistics)
        lines(of: viewer.request.client).info("viewer \(id) left: \(reason)")
        viewer.request.onEnd(reason)
        // As after any session: see `remove`.
        chromaDeadline = .zero
        (nextRateDecision, nextStatistics) = (.zero, .zero)
    }

    /// Begins or ends the sound of a viewer. An unknown identifier is ignored.
    func setAudioEnabled(_ isOn: Bool, for id: MediaSessionID, now: MonotonicTime) {
        let hub = isOn ? frameViewers[id]?.request.sound : nil
        let feed = hub.map { self.feed(of: $0) }
        withFrameViewer(id) { $0.setAudio(feed, now: now) }
    }

    /// The viewers of the track of `feed`, be it of pictures or of sound.
    func frameViewers(at feed: TrackFeed) -> [MediaSessionID] {
        frameViewers.values.filter { $0.layers.source === feed || $0.sound?.feed === feed }.map(\.request.id)
    }
}
