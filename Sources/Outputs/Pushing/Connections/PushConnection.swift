import Clocks
import MediaFiles
import MediaTypes
import OutputLife
import OutputSettings
import ScreenRelayKit
import Synchronization
import Threading
import TrackHub

/// One attempt of a push, and the connection that comes of it. Others give it frames, and a thread of its own writes
/// them, because libavformat blocks, and makes AAC of the sound.
final class PushConnection: PushAttempt {
    /// How long after its first key frame a stream in segments asks for another, so that there is a segment to play.
    private static let firstSegment = Interval.seconds(1)

    let number: Int
    let target: PushTarget
    let track: HostedTrack
    let settings: PushSettings
    private let isOfTrack: Bool
    /// Whether the attempt waits for a source, whose sound isn't known either.
    let isEarly: Bool
    let connection = MediaConnection()
    let wake: EventFD
    let shared: Mutex<Shared>
    let report: @Sendable (OutputLife.Event) -> Void

    /// Begins an attempt; nil if the process has no descriptor or thread left. `report` is called on the attempt's
    /// thread, and `wake` on the source's when ``collect()`` has something to do.
    init?(
        _ number: Int, to target: PushTarget, of track: HostedTrack, _ source: PushSource, settings: PushSettings,
        wake collects: @escaping @Sendable () -> Void, report: @escaping @Sendable (OutputLife.Event) -> Void
    ) {
        guard let wake = EventFD() else { return nil }
        (self.number, self.target, self.track, self.settings) = (number, target, track, settings)
        (self.wake, self.report) = (wake, report)
        isOfTrack = source.isTrack
        isEarly = !track.hasPictures
        let now = MonotonicTime.now()
        shared = Mutex(
            Shared(
                meter: OutputMeter(at: now), source: source,
                still: StillRhythm(isWatched: target.isWatched, isCoarse: target.isCoarse, at: now)))
        guard let thread = NamedThread("push", blocksSignals: true, body: { [self] in run() }) else { return nil }
        shared.withLock { $0.thread = thread }
        if settings.content != .pictures {
            let sound = track.subscribeToSound(wake: collects)
            shared.withLock { $0.sound = sound }
        }
        switch source {
        case .nothing: break
        case .track(let track):
            shared.withLock { $0.start.begin(at: now) }
            wake.signal()
            let subscription = track.subscribe(wake: collects)
            shared.withLock { $0.subscription = subscription }
            // While somebody watches, the next key frame may be minutes away.
            track.requestStart()
        case .encoder(let encoder):
            let unsubscribe = encoder.subscribe { [weak self] in
                self?.take($0)
            } fail: {
                report(.failed(attempt: number, $0))
            }
            shared.withLock { $0.unsubscribe = unsubscribe }
        }
        // It may have been abandoned meanwhile.
        if connection.isAbandoned { abandon() }
    }

    /// Its own thread asks for what is missing.
    var deadline: MonotonicTime { .distantFuture }

    /// Takes what has come of the track.
    func collect() {
        let now = MonotonicTime.now()
        let (hasSound, pictures) = shared.withLock { ($0.takeSound(now), $0.subscription) }
        if hasSound { wake.signal() }
        for frame in pictures?.take() ?? [] { take(frame) }
    }

    /// Sends what waits, and then ends.
    func close() {
        shared.withLock { $0.isClosing = true }
        wake.signal()
    }

    /// Ends at once, wherever it is.
    func abandon() {
        connection.abandon()
        let inputs = shared.withLock { $0.takeInputs() }
        inputs.unsubscribe?()
        wake.signal()
    }

    /// Waits until its thread has ended, but no longer than until `deadline`.
    func join(until deadline: MonotonicTime) {
        let thread = shared.withLock { $0.thread }
        thread?.join(until: deadline)
    }

    var isStale: Bool {
        let (lacksSound, isStale) = shared.withLock { ($0.lacksSound, $0.lacksPictures || $0.hasEndedFile) }
        return isStale || lacksSound && track.hasSound
    }

    /// What was sent since the last call.
    func takeRates(_ now: MonotonicTime) -> OutputMeter.Rates { shared.withLock { $0.meter.take(at: now) } }

    /// Measures what the network took of the second that has passed. Returns whether it has just turned out to be weak.
    func takeWeakness(_ now: MonotonicTime) -> Bool {
        shared.withLock { [connection] in
            $0.meter.isWeak(at: now) {
                connection.counters.map {
                    PathCounters(
                        sent: $0.sentPackets, lost: $0.lostPackets, waiting: $0.waiting, roundTrip: $0.roundTrip)
                }
            }
        }
    }

    func backlog(_ now: MonotonicTime) -> PushBacklog {
        shared.withLock {
            PushBacklog(
                age: $0.queue.age(at: now), byteCount: $0.queue.byteCount, dropped: $0.queue.dropped,
                sent: ($0.meter.sentPictures, $0.meter.sentSound), sentPictureBytes: $0.meter.sentPictureBytes,
                path: $0.meter.path)
        }
    }

    // MARK: The control thread, or the encoder's

    /// How often a key frame is asked for; nil if none is. For a source that makes none, the host would encode the
    /// pictures of all viewers again up to the source's own next key frame, which only segments are worth. An encoder
    /// makes its own while the picture changes; on a still screen, players would wait for it.
    private var keyFrameInterval: Interval? {
        if isOfTrack { return target.isSegmented || track.makesKeyFrames ? settings.keyFrameInterval : nil }
        return target.isWatched ? (settings.video ?? VideoSettings()).keyFrameInterval : nil
    }

    private func take(_ frame: TrackFrame) {
        let now = MonotonicTime.now()
        // A source may say only after its first key frame that it makes them.
        let regular = keyFrameInterval ?? .seconds(.max)
        let asked = shared.withLock { shared -> PushSource? in
            if shared.isClosing || shared.isWaiting { return nil }
            shared.start.end()
            shared.meter.gave()
            if frame.coded.isRandomAccess {
                let isEarly = target.isSegmented && !shared.hasBegun
                shared.keyFrame = (now, isEarly ? Self.firstSegment : nil)
                shared.hasBegun = true
            }
            let isDue = shared.keyFrame.map { now - $0.at >= $0.next ?? regular } ?? false
            shared.queue.add(
                frame, frame.coded.isRandomAccess ? .keyFrame : .picture, byteCount: frame.coded.bytes.count, at: now)
            return shared.queue.needsKeyFrame || isDue ? shared.source : nil
        }
        asked?.requestKeyFrame()
        wake.signal()
    }

    // MARK: The thread

    private func run() {
        defer { abandon() }
        guard let beginning = waitForBeginning() else {
            if !connection.isAbandoned { report(.closed(attempt: number)) }
            return
        }
        if target.isListener {
            // It may wait for long, and key frames that nobody gets must not be asked for meanwhile.
            shared.withLock { $0.isWaiting = true }
        } else {
            report(.dialled(attempt: number))
        }
        guard let (address, place) = findAddress() else { return }
        do throws(MediaFileError) {
            let hasSound = beginning.hasSound || settings.content == .both && address.container.needsSound
            if hasSound { shared.withLock { $0.lacksSound = false } }
            let sound = try hasSound ? address.sound(settings.sound) : nil
            var stream = try PushStream(
                beginning.picture, sound, origin: track.origin, to: address, at: place, connection: connection)
            shared.withLock { $0.meter = OutputMeter(at: MonotonicTime.now()) }
            report(.opened(attempt: number))
            if target.isListener {
                // The receiver that was waited for gets what is shown now.
                let source = shared.withLock { shared in
                    (shared.queue, shared.isWaiting) = (OutputQueue(), false)
                    shared.still.connected()
                    return shared.source
                }
                source?.requestKeyFrame()
            } else if let picture = beginning.picture {
                try write(picture, to: &stream)
            }
            try writeAll(to: &stream)
            if connection.isAbandoned { return }
            connection.allow(until: MonotonicTime.now() + settings.sendTimeout)
            if address.container == .transportStream { linger() }
            try stream.finish()
            report(.closed(attempt: number))
        } catch {
            if connection.isAbandoned { return }
            let reason = connection.isLate ? "timed out" : "\(error)"
            report(.failed(attempt: number, OutputError(reason, nameMayBeInUse: error == .nameInUse)))
        }
    }

    /// Waits for the next frame, or until silence is due.
    func next(silenceDue: MonotonicTime = .distantFuture) -> Next {
        while !connection.isAbandoned {
            let now = MonotonicTime.now()
            let (next, pictureDue, startDue) = shared.withLock {
                ($0.next(now, silenceDue: silenceDue), $0.still.due, $0.start.deadline)
            }
            if let next { return next }
            if shared.withLock({ $0.start.takeDue(at: now) }) { track.requestKeyFrame() }
            guard now >= pictureDue else {
                wake.wait(until: min(pictureDue, silenceDue, startDue))
                continue
            }
            let makesKeyFrames = keyFrameInterval != nil
            let (source, wantsKeyFrame) = shared.withLock { shared in
                defer { shared.still.wait(from: now) }
                return (shared.source, makesKeyFrames && shared.still.wantsKeyFrame(at: now))
            }
            if wantsKeyFrame { source?.requestKeyFrame() } else { source?.requestPicture() }
        }
        return .end
    }
}
