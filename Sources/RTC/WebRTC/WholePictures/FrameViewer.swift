import MediaSessions
import MediaTypes
import RTP
import TrackHub

/// What a viewer of whole pictures is opened with.
struct FrameRequest: Sendable {
    var id: MediaSessionID
    var hub: TrackHub
    /// The sound of the same source, if it has a track for that.
    var sound: TrackHub?
    /// The viewer's address in text, without the port.
    var client: String
    var clock: NTPClock
    /// When the viewer asked for pictures: it confirms number 0 from then on.
    var openedAt: MonotonicTime
    /// Gets the pictures in order, on the media thread. Must not block.
    var sink: @Sendable (WholePicture) -> Void
    /// Gets the sound in the same way, while the viewer wants it.
    var soundSink: @Sendable (WholeAudio) -> Void
    /// Called once on the media thread with the reason in words when the session is over.
    var onEnd: @Sendable (String) -> Void
}

/// A viewer that gets whole pictures over a reliable connection, and confirms them. It shares layers, rates and key
/// frames with the viewers that get packets.
///
/// Sans-IO: time and the sink are given. ``deadline`` is the time of the next call, and ``end`` is set when it is over.
/// Belongs to the media thread.
struct FrameViewer: LayerSwitching, TrackViewer {
    /// A viewer that confirms nothing for this long is gone.
    static let timeout = Interval.seconds(10)
    private static let askingInterval = Interval.milliseconds(100)
    /// What is due without an event: the end of a silence, the return to the source layer, statistics.
    private static let maxPause = Interval.seconds(1)

    let request: FrameRequest
    var layers: TrackLayers
    private(set) var framesSent = 0
    private(set) var nextFrame: FrameNumber?
    /// The reason that the session is over; nil while it isn't.
    private(set) var end: String?
    /// The time at which ``advance(now:)`` must be called even if nothing arrives.
    private(set) var deadline = MonotonicTime.zero
    private(set) var rate: WholePictureBandwidthEstimator
    /// The sound that the viewer hears; nil while it wants none.
    private(set) var sound: WholeAudioSender?
    private var sentSoundPackets = 0
    private var sentBytes: UInt64 = 0

    private var askedAt: MonotonicTime?
    /// When it last began with a key frame.
    private var beganAt = MonotonicTime.zero
    private var lastNumber: UInt32 = 0
    /// Whether the last picture may still be shown; nil if that is known not to matter.
    private var isLastShown: (@Sendable () -> Bool)?
    private var isStalled = false
    private var keyFrameRequests = KeyFrameRequestLimiter()

    /// A viewer of `feed`, where it counts until ``leave(now:)``.
    init(_ request: FrameRequest, feed: TrackFeed) {
        self.request = request
        layers = TrackLayers(source: feed)
        rate = WholePictureBandwidthEstimator(now: request.openedAt)
        feed.sessionCount += 1
        feed.sessionCountWithout444 += 1
    }

    /// Ends the session's part in the feeds.
    func leave(now: MonotonicTime) {
        sound?.leave(now: now)
        layers.unsubscribeLow()
        layers.source.sessionCount -= 1
        layers.source.sessionCountWithout444 -= 1
    }

    private var feed: TrackFeed { layers.feed }

    // MARK: Events

    /// Does what is due.
    mutating func advance(now: MonotonicTime) {
        guard end == nil else { return }
        // Sound goes before pictures.
        sentSoundPackets += sound?.advance(clock: request.clock, now: now, sink: request.soundSink) ?? 0
        feed.forgetHidden()
        if let isLastShown, !isLastShown() {
            // What is on its way may be left out, and then is never confirmed.
            rate.forgetUnconfirmed(now: now)
            self.isLastShown = nil
        }
        if rate.silence(now: now) >= Self.timeout {
            end = "the viewer has confirmed no picture for \(Self.timeout.milliseconds / 1000) s"
            return
        }
        isStalled = rate.isStalled(now: now)
        // While nothing can be sent, the layers don't differ, and a viewer that is away should cost no second encoder.
        if rate.hasRoom(for: 1, now: now) { selectLayer(rate.rates, now: now) }
        if keyFrameRequests.poll(at: now) { restartForgettingSent() }
        sendPictures(now: now)
        schedule(now: now)
    }

    /// Takes the confirmation of the picture `number` and of all before it, which came at `arrival`.
    mutating func confirm(through number: UInt32, arrival: MonotonicTime, now: MonotonicTime) {
        guard rate.confirm(through: number, at: arrival) else { return }
        advance(now: now)
    }

    /// The viewer's decoder can't go on without a key picture.
    mutating func requestKeyPicture(now: MonotonicTime) {
        feed.record.keyFrameRequests += 1
        if keyFrameRequests.pictureLossIndicated(at: now) { restartForgettingSent() }
        advance(now: now)
    }

    /// Sends the sound of `feed` from now on, and none if it is nil.
    mutating func setAudio(_ feed: TrackFeed?, now: MonotonicTime) {
        guard end == nil, sound?.feed !== feed else { return }
        sound?.leave(now: now)
        sound = feed.map { WholeAudioSender($0, now: now) }
    }

    // MARK: Pictures

    func start(of feed: TrackFeed) -> FrameNumber? {
        guard let start = feed.startFrame, let format = feed.history.frame(start)?.format, Self.decodes(format) else {
            return nil
        }
        return start
    }

    mutating func restartForgettingSent() {
        nextFrame = nil
        layers.skippedEnd = nil
        askedAt = nil
    }

    func wait(target: BitRate, now: MonotonicTime) -> Interval {
        let bits = Int64(rate.unconfirmedBytes + waitingBytes) * 8_000_000_000
        let onPath = Interval(nanoseconds: bits / Int64(max(1, target.bitsPerSecond))) - (rate.roundTripTime ?? .zero)
        // After a time in which nothing could be sent, what waits may be few bytes, and old all the same.
        guard let nextFrame, let came = feed.history.time(of: nextFrame) else { return onPath }
        return max(onPath, feed.updatedAt - max(came, beganAt))
    }

    private static func decodes(_ format: TrackFormat) -> Bool { format.codec == .h264 && format.chroma == .yuv420 }

    private mutating func sendPictures(now: MonotonicTime) {
        while true {
            guard let number = nextFrame else {
                let start = start(of: feed)
                let isLate = start.map { feed.isLate($0, at: rate.estimate) } ?? false
                guard let start, !isLate else { return ask(isLate: isLate, now: now) }
                nextFrame = start
                beganAt = now
                layers.countSkipped(upTo: start)
                continue
            }
            guard number < feed.history.next else { return }
            guard let frame = feed.history.frame(number), Self.decodes(frame.format) else {
                // It is so late that the frame is gone, or the format has changed and is about to change again.
                restartForgettingSent()
                if number < feed.history.oldest { layers.countSkipped(from: number) }
                continue
            }
            guard rate.hasRoom(for: frame.coded.bytes.count, now: now) else { return }
            send(frame, number, now: now)
            nextFrame = number.next
        }
    }

    private mutating func ask(isLate: Bool, now: MonotonicTime) {
        if let askedAt, now - askedAt < Self.askingInterval { return }
        askedAt = now
        feed.requestKeyFrame(isLate: isLate, now: now)
    }

    private mutating func send(_ frame: PacketizedFrame, _ number: FrameNumber, now: MonotonicTime) {
        lastNumber &+= 1
        let came = feed.history.time(of: number)
        let captured = (frame.captureTime ?? came ?? now) + request.clock.unixOffset
        let (hub, layer, first) = (feed.hub, feed.layer, feed.firstShown)
        let isShown: @Sendable () -> Bool = { hub.firstShown(of: layer) == first }
        request.sink(
            WholePicture(
                number: lastNumber, isKeyPicture: frame.isRandomAccess, isPointerDrawn: frame.coded.isPointerDrawn,
                captureTime: captured.nanoseconds / 1000, bytes: frame.coded.bytes,
                isShown: isShown))
        isLastShown = isShown
        rate.sent(lastNumber, byteCount: frame.coded.bytes.count, now: now)
        if let came, came >= beganAt { feed.record.times.add(now - came) }
        if frame.isRandomAccess { keyFrameRequests.keyFrameSent() }
        framesSent += 1
        sentBytes += UInt64(frame.coded.bytes.count)
    }

    private mutating func schedule(now: MonotonicTime) {
        deadline = min(now + Self.maxPause, keyFrameRequests.deadline ?? .distantFuture)
        if nextFrame == nil, let askedAt { deadline = min(deadline, askedAt + Self.askingInterval) }
    }

    // MARK: For the media loop

    func targetBitRate(at feed: TrackFeed) -> BitRate? {
        // While it is away, its path says nothing, and must not hold back the others.
        guard layers.feed === feed, !isStalled else { return nil }
        return max(feed.layer == .source ? WatchedTracks.minSourceRate : WatchedTracks.minLowRate, targetBitRate)
    }

    func carriedBitRate(at feed: TrackFeed) -> BitRate? {
        layers.feed === feed && !isStalled ? rate.rates.target : nil
    }

    func rateToReturn(to feed: TrackFeed) -> BitRate? {
        layers.source === feed && !isStalled ? WatchedTracks.rateToReturn(of: targetBitRate) : nil
    }

    private var targetBitRate: BitRate { rate.target ?? .highest }

    /// The session's statistics, for monitoring.
    var statistics: PeerStatistics {
        var statistics = PeerStatistics(id: request.id, isConnected: true, targetBitRate: targetBitRate)
        statistics.transport = .webSocket
        statistics.address = request.client
        statistics.getsLowLayer = layers.selector.layer == .low
        statistics.framesSent = framesSent
        statistics.sentSoundPackets = sentSoundPackets
        statistics.sentOctets = sentBytes
        statistics.roundTripTime = rate.roundTripTime
        if rate.roundTripTime != nil {
            statistics.estimate = rate.estimate
            statistics.queueDelay = rate.queueDelay
        }
        return statistics
    }
}
