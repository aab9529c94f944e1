import LinkTransport
import MediaTypes
import RTP
import ScreenRelayKit
import TrackHub

/// Sends a track's pictures to one player.
///
/// A player whose path can't carry the track loses pictures up to the next key frame, and delays no other player. RTSP
/// has no request for a key frame, so a player that needs one is started again: soon after it began, and after it has
/// reported losses.
final class PictureSending: PlayerSending {
    /// A key frame is asked for so often while there is none to begin with.
    static let askInterval = Interval.milliseconds(600)
    /// Frames that have waited for longer than this are left out.
    private static let latest = Interval.seconds(1)
    /// The frames before the newest one at the start are shown this long after each other.
    private static let hurry = Interval.milliseconds(1)
    /// Players look at some twenty pictures before they show one. A still screen has none, so the source is asked for
    /// them at first.
    private static let firstPictures = (count: 25, spacing: Interval.milliseconds(40))

    /// The most bytes after the kept key frame for a restart: beyond them, a new key frame is of more use.
    private static let maxSentAgain = 128 << 10
    /// A source that can't repeat its picture, such as a publisher, has it repeated up to the first pictures' count,
    /// but not beyond so many bytes.
    private static let maxRepeated = 2 << 20
    /// While no more than this has arrived since the key frame, the picture stands still, and a player doesn't notice a
    /// restart. It is then restarted a few more times, at growing intervals: a busy machine may analyse for longer.
    private static let still = (maxBytes: 4 << 10, restarts: Int64(3))

    private let track: HostedTrack
    private let wake: PlayerWake
    /// How long after its beginning a player starts again.
    private let secondStart: Interval
    private(set) var stream: PlayerStream
    private var budget = KeyFrameRequestLimiter()
    /// Nil unless it plays.
    private var frames: TrackSubscription?
    /// The frames kept by the track when the player began, with the times at which they are shown.
    private var first: ArraySlice<(frame: TrackFrame, time: MediaTime)> = []
    /// The frames received since the player began, but not sent yet.
    private var waiting: ArraySlice<TrackFrame> = []
    private var lastTime: MediaTime?
    private var lastNumber: UInt64?
    private var needsKeyFrame = true
    /// When to ask for a first frame again; nil once there was one.
    private var asksAgain: MonotonicTime?
    /// How many pictures are still asked for at the start, and when the next one is.
    private var wantedPictures = 0
    private var wantsPictureAt = MonotonicTime.zero
    /// When the player starts again; nil for never.
    private var startsAgain: MonotonicTime?
    /// How often it has started again by itself.
    private var restarts: Int64 = 0
    /// The pictures and bytes sent to the player since it began.
    private var sent = (pictures: 0, bytes: 0)
    /// Limits how often losses make it start again: never more often than each 2 s.
    private var losses = KeyFrameRequestLimiter(isOfServer: true)

    /// - Parameter secondStart: how long after its beginning a player starts again, because some players discard the
    ///   frames by which they have analysed the stream.
    init(_ track: HostedTrack, _ stream: PlayerStream, wake: PlayerWake, secondStart: Interval) {
        self.track = track
        self.stream = stream
        self.wake = wake
        self.secondStart = secondStart
    }

    var deadline: MonotonicTime {
        guard frames != nil else { return .distantFuture }
        return min(
            stream.deadline, budget.deadline ?? .distantFuture, asksAgain ?? .distantFuture,
            startsAgain ?? .distantFuture, losses.deadline ?? .distantFuture,
            wantedPictures > 0 ? wantsPictureAt : .distantFuture)
    }

    /// Begins, or begins again, with the frames since the last key frame: at once, whenever they were made.
    func play(now: MonotonicTime) -> MonotonicTime? {
        let frames = track.subscribe { [wake] in wake.signal() }
        self.frames = frames
        let there = frames.take()
        (needsKeyFrame, lastNumber) = (true, nil)
        (wantedPictures, wantsPictureAt) = (Self.firstPictures.count, now)
        (startsAgain, restarts) = (now + secondStart, 0)
        sent = (0, 0)
        asksAgain = there.isEmpty ? now + Self.askInterval : nil
        guard !there.isEmpty else {
            track.requestStart()
            return nil
        }
        return begin(with: there, now: now)
    }

    /// Begins with the frames that the track has kept. Returns when the first of them is shown.
    private func begin(with there: [TrackFrame], now: MonotonicTime) -> MonotonicTime {
        // A picture that has stood still for long is given the present time: the following frames, including sound,
        // must not seem to follow long after it.
        let captured = there.last.map { $0.coded.captureTime ?? $0.arrival } ?? now
        let end = now - captured > Self.latest ? now : captured
        let start = end - Self.hurry * Int64(there.count - 1)
        let time = stream.mediaTime(at: start)
        let step = ClockRate.video.ticks(in: Self.hurry)
        let timed = there.enumerated().map { index, frame in
            (frame: frame, time: later(time + step * Int64(index)))
        }
        first = timed[...]
        return start
    }

    func takeReport(_ report: ReceptionReport, now: MonotonicTime) {
        guard frames != nil, stream.takeReport(report), losses.pictureLossIndicated(at: now) else { return }
        repair(now: now)
    }

    /// Gives a player that has reported losses a key frame. A key frame that costs all viewers something is requested
    /// ever more seldom: while losses continue, none repairs the picture for long.
    private func repair(now: MonotonicTime) {
        startAgain(now: now) { budget.pictureLossIndicated(at: now) }
    }

    /// Gives the player a key frame: the one kept by the track, with all frames after it, at no cost to other viewers;
    /// or a new one if more than `maxBytes` follow the kept one, and `mayAsk`. Returns whether the kept one is sent.
    @discardableResult
    private func startAgain(now: MonotonicTime, maxBytes: Int = maxSentAgain, mayAsk: () -> Bool) -> Bool {
        // What is on its way begins with a key frame, and so does what a player without one waits for.
        guard first.isEmpty, !needsKeyFrame else { return false }
        let again = track.subscribe { [wake] in wake.signal() }
        let there = again.take()
        let byteCount = there.dropFirst().reduce(0) { $0 + $1.coded.bytes.count }
        let isAllThereIs = !track.makesKeyFrames && maxBytes == Self.maxSentAgain
        guard !there.isEmpty, byteCount <= maxBytes || isAllThereIs else {
            if mayAsk() { track.requestKeyFrame() }
            return false
        }
        (frames, waiting) = (again, [])
        (needsKeyFrame, lastNumber) = (true, nil)
        _ = begin(with: there, now: now)
        return true
    }

    /// Starts again because the player may have discarded the frames that it has analysed, and schedules the next time.
    private func restartByItself(now: MonotonicTime) {
        let hasFew = sent.pictures < Self.firstPictures.count && sent.bytes < Self.maxRepeated
        let isFirst = restarts == 0
        let maxBytes = isFirst || hasFew ? Self.maxSentAgain : Self.still.maxBytes
        startsAgain = nil
        guard startAgain(now: now, maxBytes: maxBytes, mayAsk: { isFirst }) else { return }
        if hasFew {
            startsAgain = now + Self.firstPictures.spacing
        } else if restarts < Self.still.restarts {
            restarts += 1
            startsAgain = now + secondStart * (1 << restarts)
        }
    }

    func pause() {
        frames = nil
        startsAgain = nil
        (first, waiting) = ([], [])
        stream.forgetWaiting()
    }

    /// A time after the last one.
    private func later(_ time: MediaTime) -> MediaTime {
        let time = lastTime.map { max(time, $0 + 1) } ?? time
        lastTime = time
        return time
    }

    func advance(
        over connection: SocketConnection, _ ports: RTSPPorts, _ packets: inout PacketizedFrames, now: MonotonicTime
    ) throws(SocketError) {
        if frames == nil { return }
        if losses.poll(at: now) { repair(now: now) }
        if let time = startsAgain, now >= time {
            restartByItself(now: now)
        }
        guard let frames else { return }
        if budget.poll(at: now) { track.requestKeyFrame() }
        if let time = asksAgain, now >= time {
            track.requestKeyFrame()
            asksAgain = now + Self.askInterval
        }
        if wantedPictures > 0, now >= wantsPictureAt {
            track.requestPicture()
            wantedPictures -= 1
            wantsPictureAt = now + Self.firstPictures.spacing
        }
        try stream.flush(over: connection, ports, now: now)
        // One frame at a time, so that sound needs to wait for only one.
        while stream.hasRoom(on: connection), let (frame, time) = nextFrame(of: frames, now: now) {
            // The track may have been paused since it was taken.
            guard frames.shows(frame) else { continue }
            try send(frame, at: time, over: connection, &packets)
            try stream.flush(over: connection, ports, now: now)
        }
    }

    /// The next frame, and when it is shown; nil if there is none now.
    private func nextFrame(
        of frames: TrackSubscription, now: MonotonicTime
    ) -> (frame: TrackFrame, time: MediaTime)? {
        if let next = first.popFirst() { return next }
        let isCurrent = waiting.first.map { now - $0.arrival <= Self.latest } ?? false
        if !isCurrent { waiting = current(waiting + frames.take(), now: now) }
        return waiting.popFirst().map { (frame: $0, time: later($0.time)) }
    }

    /// Returns `frames` without the late ones, which end before a key frame.
    private func current(_ frames: ArraySlice<TrackFrame>, now: MonotonicTime) -> ArraySlice<TrackFrame> {
        guard let oldest = frames.first, now - oldest.arrival > Self.latest else { return frames }
        let newest = frames.lastIndex { $0.coded.isRandomAccess && now - $0.arrival <= Self.latest }
        if let newest { return frames[newest...] }
        needsKeyFrame = true
        if budget.pictureLossIndicated(at: now) { track.requestKeyFrame() }
        return []
    }

    private func send(
        _ frame: TrackFrame, at time: MediaTime, over connection: SocketConnection, _ packets: inout PacketizedFrames
    ) throws(SocketError) {
        if let lastNumber, frame.number != lastNumber + 1 { needsKeyFrame = true }
        lastNumber = frame.number
        if frame.coded.isRandomAccess {
            (needsKeyFrame, asksAgain) = (false, nil)
            budget.keyFrameSent()
        }
        guard !needsKeyFrame else { return }
        sent = (sent.pictures + 1, sent.bytes + frame.coded.bytes.count)
        let made = packets.packets(of: frame, track: track)
        try stream.send(
            made.packets, of: made.coded.bytes, at: time, marked: made.packets.count - 1, over: connection)
    }
}
