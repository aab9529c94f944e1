import CongestionControl
import MediaTypes
import RTP
import TrackHub

/// The sender of a session's pictures to a server, which passes them on to viewers of its own: it answers requests for
/// key frames at the least cost to other viewers, and sends no padding, which a server would pass on too.
final class ServerSender: PictureSender {
    /// The frames of the host's own encoder that the server gets, or waits for, until the source's next key frame.
    private struct HostFrames {
        /// The low layer's feed, on which the sender counts as a session.
        let feed: TrackFeed
        /// When the server was to get them. From an older key frame on, its viewers would see past frames again.
        let since: MonotonicTime
    }

    /// A key frame of text takes a slower path longer than half a second.
    private static let minHostRate = BitRate(bitsPerSecond: 2_500_000)
    /// At a lower rate, the low layer's key frames are coarse, and would hold up the narrow paths of its viewers.
    private static let minLowRate = BitRate(bitsPerSecond: 2_000_000)

    @exclusivity(unchecked) private var keyFrames = ServerKeyFrames()
    /// Set while the server gets the host's own frames, or waits for them.
    @exclusivity(unchecked) private var hostFrames: HostFrames?

    /// Sends the pictures of `track`.
    init(_ track: TrackSender) {
        super.init(track, requests: KeyFrameRequestLimiter(isOfServer: true))
    }

    override func selectFrames(along path: inout PathControl, keepsLayer: Bool, now: MonotonicTime) {
        serveByHost(rate: path.targetBitRate, now: now)
        if hostFrames == nil { super.selectFrames(along: &path, keepsLayer: keepsLayer, now: now) }
    }

    // MARK: Key frames

    override func keyFrameRequested(now: MonotonicTime) {
        if keyFrames.isAnswered(at: now, roundTripTime: track.roundTripTime ?? .zero) { return }
        if requests.pictureLossIndicated(at: now) {
            serveKeyFrame(now: now)
        } else {
            keyFrames.requested(asksSource: false, at: now)
        }
    }

    /// Serves the server's request for a key frame. If the server began again at the last one, all of its viewers would
    /// see again what came after that one, so the source is asked for a new one, unless nothing has changed since.
    override func serveKeyFrame(now: MonotonicTime) {
        if hostFrames == nil, repeatKeyFrame(now: now) { return }
        // A server that gets the host's frames returns with the source's key frame.
        let wanted = hostFrames == nil ? track.layers.feed : track.layers.source
        wanted.hub.requestKeyFrame(of: wanted.layer, now: now)
        keyFrames.requested(asksSource: true, at: now)
    }

    override var requestsDue: MonotonicTime? {
        guard let due = keyFrames.deadline else { return requests.deadline }
        return requests.deadline.map { min($0, due) } ?? due
    }

    /// One of the host's frames doesn't answer what the source is still to be asked for.
    override func sent(_ keyFrames: TrackSender.KeyFrames, now: MonotonicTime) {
        guard keyFrames.contains(.began) else { return }
        self.keyFrames.keyFrameBegan(at: now)
        if hostFrames == nil { requests.keyFrameSent() }
    }

    /// Servers that pass pictures on over RTMP or HLS drop all that come before two reports have told them the time,
    /// also the first key frame.
    override func reported(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard track.reports.count == 2 else { return }
        serveKeyFrame(now: now)
        sendPictures(along: &path, now: now, send: send)
    }

    /// Sends the last key frame again, and the frames that have refined it. Returns false if the picture has changed
    /// since.
    private func repeatKeyFrame(now: MonotonicTime) -> Bool {
        let feed = track.layers.feed
        guard feed.isUnchangedSinceStart, track.start(of: feed) != nil else { return false }
        track.restart()
        track.showBacklog(at: feed.hub.mediaTime(at: now, rate: .video))
        return true
    }

    // MARK: The host's frames

    /// Answers the requests that the source doesn't answer; `rate` is what the server's path carries.
    private func serveByHost(rate: BitRate, now: MonotonicTime) {
        selectHostFrames(now: now)
        guard keyFrames.takeDue(at: now), !repeatKeyFrame(now: now) else { return }
        if hostFrames == nil { hostFrames = makeHostFrames(rate: rate, now: now) }
        guard hostFrames != nil else { return keyFrames.giveUp() }
        track.layers.source.hub.requestKeyFrame(of: .low, now: now)
    }

    /// Subscribes to the host's frames; nil if they would be of no use, or a burden to a viewer who gets them already.
    private func makeHostFrames(rate: BitRate, now: MonotonicTime) -> HostFrames? {
        let source = track.layers.source
        // The low layer has no other chroma format, and not every server takes a change of the payload type.
        guard track.layers.selector.layer == .source, track.framesSent > 0, source.chroma == .yuv420,
            rate >= Self.minHostRate
        else { return nil }
        if let lowRate = source.hub.lowRate, lowRate < Self.minLowRate { return nil }
        return HostFrames(feed: source.subscribeLow(at: rate, now: now), since: now)
    }

    /// Changes to the host's frames with their first key frame, and back with the source's.
    private func selectHostFrames(now: MonotonicTime) {
        guard let hostFrames else { return }
        track.layers.source.forgetHidden()
        hostFrames.feed.forgetHidden()
        if hasStart(track.layers.source, since: hostFrames.since) { return endHostFrames() }
        guard track.layers.feed.layer == .source else { return }
        if hasStart(hostFrames.feed, since: hostFrames.since) {
            track.layers.feed = hostFrames.feed
            track.restartForgettingSent()
            // The picture may be old; its key frame is shown when it is sent.
            track.times.advance(to: hostFrames.feed.hub.mediaTime(at: now, rate: .video))
        } else if keyFrames.deadline == nil {
            endHostFrames()
        }
    }

    private func hasStart(_ feed: TrackFeed, since moment: MonotonicTime) -> Bool {
        guard let start = track.start(of: feed), let arrival = feed.history.time(of: start) else { return false }
        return arrival >= moment
    }

    /// Ends the sender's part in the host's frames, if it has one, and returns to the source's.
    private func endHostFrames() {
        guard let hostFrames else { return }
        hostFrames.feed.sessionCount -= 1
        self.hostFrames = nil
        guard track.layers.feed.layer == .low else { return }
        track.layers.feed = track.layers.source
        track.times.endBacklog()
        track.restartForgettingSent()
    }

    // MARK: Probes and rates

    /// Each probe is made of the largest packet that was sent a moment ago: servers pass padding on to their viewers,
    /// but not retransmissions.
    override func pad(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) -> Bool {
        guard track.stream.hasRetransmission else { return track.pad(with: nil, along: &path, now: now, send: send) }
        let packets = track.packetsForProbes
        guard let again = packets.full ?? packets.largest else { return false }
        return track.pad(with: again, along: &path, now: now, send: send)
    }

    /// While the server gets the host's frames for a moment, it still counts for the source's rate, which others get.
    override func counts(for feed: TrackFeed) -> Bool {
        if super.counts(for: feed) { return true }
        guard let hostFrames else { return false }
        return hostFrames.feed === feed || track.layers.source === feed
    }

    override func leave() {
        endHostFrames()
        super.leave()
    }
}
