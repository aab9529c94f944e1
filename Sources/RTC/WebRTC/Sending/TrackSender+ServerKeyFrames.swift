import MediaTypes
import RTP
import TrackHub

/// How a sender answers requests for key frames: a viewer's from the feed, a server's at the least cost to others.
extension TrackSender {
    /// The frames of the host's own encoder that a server gets, or waits for, until the source's next key frame.
    struct HostFrames {
        /// The low layer's feed, on which the sender counts as a session.
        let feed: TrackFeed
        /// When the server was to get them. From an older key frame on, its viewers would see past frames again.
        let since: MonotonicTime
    }

    /// A key frame of text takes a slower path longer than half a second.
    private static let minHostRate = BitRate(bitsPerSecond: 2_500_000)
    /// At a lower rate, the low layer's key frames are coarse, and would hold up the narrow paths of its viewers.
    private static let minLowRate = BitRate(bitsPerSecond: 2_000_000)

    /// Takes the peer's request for a key frame.
    mutating func keyFrameRequested(now: MonotonicTime) {
        if isForServer, serverKeyFrames.isAnswered(at: now, roundTripTime: roundTripTime ?? .zero) { return }
        if keyFrameRequests.pictureLossIndicated(at: now) {
            serveKeyFrame(now: now)
        } else if isForServer {
            serverKeyFrames.requested(asksSource: false, at: now)
        }
    }

    /// Serves the peer's request for a key frame. A viewer begins again at the last one. If a server did, all of its
    /// viewers would see again what came after that one, so the source is asked for a new one, unless nothing has
    /// changed since.
    mutating func serveKeyFrame(now: MonotonicTime) {
        guard isForServer else { return restart() }
        if hostFrames == nil, repeatKeyFrame(now: now) { return }
        // A server that gets the host's frames returns with the source's key frame.
        let wanted = hostFrames == nil ? feed : sourceFeed
        wanted.hub.requestKeyFrame(of: wanted.layer, now: now)
        serverKeyFrames.requested(asksSource: true, at: now)
    }

    /// Sends the last key frame again, and the frames that have refined it. Returns false if the picture has changed
    /// since.
    private mutating func repeatKeyFrame(now: MonotonicTime) -> Bool {
        guard feed.isUnchangedSinceStart, start(of: feed) != nil else { return false }
        restart()
        showBacklog(at: feed.hub.mediaTime(at: now, rate: .video))
        return true
    }

    /// Answers a server's requests that the source doesn't answer; `rate` is what the server's path carries.
    mutating func serveByHost(rate: BitRate, now: MonotonicTime) {
        selectHostFrames(now: now)
        guard serverKeyFrames.takeDue(at: now), !repeatKeyFrame(now: now) else { return }
        if hostFrames == nil { hostFrames = makeHostFrames(rate: rate, now: now) }
        guard hostFrames != nil else { return serverKeyFrames.giveUp() }
        sourceFeed.hub.requestKeyFrame(of: .low, now: now)
    }

    /// Subscribes to the host's frames; nil if they would be of no use, or a burden to a viewer who gets them already.
    private func makeHostFrames(rate: BitRate, now: MonotonicTime) -> HostFrames? {
        // The low layer has no other chroma format, and not every server takes a change of the payload type.
        guard layerSelector.layer == .source, framesSent > 0, sourceFeed.chroma == .yuv420, rate >= Self.minHostRate
        else { return nil }
        if let lowRate = sourceFeed.hub.lowRate, lowRate < Self.minLowRate { return nil }
        return HostFrames(feed: sourceFeed.subscribeLow(at: rate, now: now), since: now)
    }

    /// Changes to the host's frames with their first key frame, and back with the source's.
    private mutating func selectHostFrames(now: MonotonicTime) {
        guard let hostFrames else { return }
        sourceFeed.forgetHidden()
        hostFrames.feed.forgetHidden()
        if hasStart(sourceFeed, since: hostFrames.since) { return endHostFrames() }
        guard feed.layer == .source else { return }
        if hasStart(hostFrames.feed, since: hostFrames.since) {
            feed = hostFrames.feed
            restartForgettingSent()
            // The picture may be old; its key frame is shown when it is sent.
            lastTicks = max(lastTicks, feed.hub.mediaTime(at: now, rate: .video).ticks)
        } else if serverKeyFrames.deadline == nil {
            endHostFrames()
        }
    }

    private func hasStart(_ feed: TrackFeed, since moment: MonotonicTime) -> Bool {
        guard let start = start(of: feed), let arrival = feed.history.time(of: start) else { return false }
        return arrival >= moment
    }

    /// Ends the sender's part in the host's frames, if it has one, and returns to the source's.
    mutating func endHostFrames() {
        guard let hostFrames else { return }
        hostFrames.feed.sessionCount -= 1
        self.hostFrames = nil
        guard feed.layer == .low else { return }
        feed = sourceFeed
        backlogEnd = FrameNumber(0)
        restartForgettingSent()
    }

    /// Notes that the first packet of a key frame is sent to a server. One of the host's frames doesn't answer what the
    /// source is still to be asked for.
    mutating func keyFrameBegan(now: MonotonicTime) {
        serverKeyFrames.keyFrameBegan(at: now)
        if hostFrames == nil { keyFrameRequests.keyFrameSent() }
    }
}
