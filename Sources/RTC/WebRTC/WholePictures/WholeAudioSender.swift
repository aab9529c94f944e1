import MediaSessions
import MediaTypes
import RTP
import TrackHub

/// The sound that a viewer of whole pictures gets beside them: each packet as the track has it, as soon as it is there.
/// What the viewer's path can't carry in time is left out later, in front of its WebSocket.
///
/// Belongs to the media thread.
struct WholeAudioSender {
    let feed: TrackFeed
    /// The frame to hand on next; it may not have come yet.
    private var next: FrameNumber

    /// The sound of `feed` that comes from now on. The viewer counts there until ``leave(now:)``.
    init(_ feed: TrackFeed, now: MonotonicTime) {
        self.feed = feed
        next = feed.history.next
        feed.sessionCount += 1
        feed.hub.viewerCame(decoding: .yuv444, now: now)
    }

    /// Ends the viewer's part in the feed.
    func leave(now: MonotonicTime) {
        feed.sessionCount -= 1
        feed.hub.viewerLeft(decoding: .yuv444, now: now)
    }

    /// Hands the sound that has come to `sink`, unless it has waited too long for this thread. Returns the number of
    /// packets.
    mutating func advance(clock: NTPClock, now: MonotonicTime, sink: (WholeAudio) -> Void) -> Int {
        feed.forgetHidden()
        let (hub, layer, first) = (feed.hub, feed.layer, feed.firstShown)
        var count = 0
        next = max(next, feed.history.oldest)
        while next < feed.history.next {
            defer { next = next.next }
            guard let frame = feed.history.frame(next), let came = feed.history.time(of: next),
                feed.updatedAt - came <= AudioSender.maxWait, frame.format.codec == .opus,
                let unit = frame.coded.units.first
            else { continue }
            let captured = (frame.captureTime ?? came) + clock.unixOffset
            count += 1
            sink(
                WholeAudio(
                    captureTime: captured.nanoseconds / 1000, bytes: Array(frame.coded.bytes[unit]),
                    isHeard: { hub.firstShown(of: layer) == first }))
        }
        return count
    }
}
