import Clocks
import LockOrder
import MediaFiles
import MediaTypes
import OutputLife
import OutputSettings
import ScreenRelayKit
import Synchronization
import Threading
import TrackHub

/// What the threads of a push's attempt share: constants, the inbox of the push's thread, and the progress that this
/// thread reports.
///
/// The control thread delivers the track's pictures and sound. If there is an encoder, its thread delivers the pictures
/// instead. No thread takes one of the two locks while it holds the other.
final class PushExchange: Sendable {
    /// How long after its first key frame a stream in segments asks for another, so that there is a segment to play.
    private static let firstSegment = Interval.seconds(1)

    let number: Int
    let target: PushTarget
    let track: HostedTrack
    let settings: PushSettings
    /// Whether the pictures are those of the track; otherwise an encoder gives them, or there are none.
    let isOfTrack: Bool
    /// Bounds how long the push's thread waits for the other side.
    let connection = MediaConnection()
    /// Wakes the push's thread.
    let wake: EventFD
    let inbox: RankedMutex<Inbox>
    let progress: Mutex<Progress>

    /// Prepares an attempt; nil if the process has no descriptor left.
    init?(_ number: Int, to target: PushTarget, of track: HostedTrack, _ source: PushSource, settings: PushSettings) {
        guard let wake = EventFD() else { return nil }
        self.number = number
        self.target = target
        self.track = track
        self.settings = settings
        self.wake = wake
        isOfTrack = source.isTrack
        inbox = RankedMutex(Inbox(inputs: Inputs(source: source)), .pushInbox)
        progress = Mutex(Progress(meter: OutputMeter(at: MonotonicTime.now())))
    }

    /// Begins to read, before the push's thread starts. `collect` is called on the source's thread when
    /// ``PushConnection/collect()`` has something to do, and `fail` on the encoder's if it makes no pictures.
    func subscribe(
        to source: PushSource, collect: @escaping @Sendable () -> Void, fail: @escaping @Sendable (OutputError) -> Void
    ) {
        if settings.content != .pictures {
            let sound = track.subscribeToSound(wake: collect)
            inbox.withLock { $0.inputs.sound = sound }
        }
        switch source {
        case .nothing: break
        case .track(let track):
            let pictures = track.subscribe(wake: collect)
            inbox.withLock { $0.inputs.pictures = pictures }
            // A track that already has viewers may not send its next key frame for minutes.
            track.requestStart()
        case .encoder(let encoder):
            let unsubscribe = encoder.subscribe({ [weak self] in self?.take($0) }, fail: fail)
            inbox.withLock { $0.inputs.unsubscribe = unsubscribe }
        }
    }

    /// How often a key frame is asked for; nil if none is. For a source that makes none, the host would encode the
    /// pictures of all viewers again up to the source's own next key frame, which only segments are worth. An encoder
    /// makes its own while the picture changes; on a still screen, players would wait for it.
    var keyFrameInterval: Interval? {
        if isOfTrack { return target.isSegmented || track.makesKeyFrames ? settings.keyFrameInterval : nil }
        return target.isWatched ? (settings.video ?? VideoSettings()).keyFrameInterval : nil
    }

    /// Queues a picture, on the thread that delivers it.
    func take(_ picture: TrackFrame) {
        let now = MonotonicTime.now()
        // A source may say only after its first key frame that it makes them.
        let regular = keyFrameInterval ?? .seconds(.max)
        let second = target.isSegmented ? Self.firstSegment : nil
        let (isTaken, asked) = inbox.withLock { inbox -> (Bool, PushSource?) in
            guard inbox.takesFrames else { return (false, nil) }
            let wantsKeyFrame = inbox.add(picture, at: now, second: second, regular: regular)
            return (true, wantsKeyFrame ? inbox.inputs.source : nil)
        }
        if isTaken { progress.withLock { $0.meter.gave() } }
        asked?.requestKeyFrame()
        wake.signal()
    }

    /// Ends the attempt at once, wherever it is. Called on the control thread, and on the push's thread at its end.
    func abandon() {
        connection.abandon()
        // Released after the lock, because their ends notify other objects.
        let inputs = inbox.withLock { inbox in
            defer { inbox.inputs = Inputs() }
            return inbox.inputs
        }
        inputs.unsubscribe?()
        wake.signal()
    }
}

extension PushExchange {
    /// The sources of an attempt's frames.
    ///
    /// The control thread sets them before the push's thread starts, and both threads and the encoder's read them. They
    /// are behind a lock because the thread that ends the attempt releases them at once: the push's thread may still
    /// wait for a name, and must not keep an encoder.
    struct Inputs: Sendable {
        /// What is asked for pictures.
        var source: PushSource?
        /// The frames of the track; nil if an encoder gives them.
        var pictures: TrackSubscription?
        /// The packets of the track's sound; nil if only pictures are sent.
        var sound: TrackSubscription?
        /// Ends the subscription to an encoder's frames.
        var unsubscribe: (@Sendable () -> Void)?
    }

    /// What waits for the push's thread, and what is asked of it.
    struct Inbox {
        var inputs: Inputs
        var queue = OutputQueue<TrackFrame>()
        /// Whether the push's thread is to end after the queue. Set by the control thread.
        var isClosing = false
        /// Whether frames are dropped because no receiver has connected yet. Set by the push's thread, which clears it
        /// in one step with the queue.
        var isWaiting = false
        /// When the last key frame arrived, and how soon another is to follow, if it isn't one of the regular ones.
        ///
        /// Only the thread that delivers the pictures uses it. It is here because that thread differs between attempts,
        /// and takes this lock for each picture anyway.
        var keyFrame: (at: MonotonicTime, next: Interval?)?

        /// Whether frames that arrive are queued.
        var takesFrames: Bool { !isClosing && !isWaiting }

        /// Queues a picture that has arrived. Returns whether a key frame is to be asked for.
        ///
        /// - Parameters:
        ///   - second: how soon a key frame is to follow the first one, if it isn't one of the regular ones.
        ///   - regular: how soon a key frame is to follow another.
        mutating func add(
            _ picture: TrackFrame, at now: MonotonicTime, second: Interval?, regular: Interval
        ) -> Bool {
            let isKeyFrame = picture.coded.isRandomAccess
            if isKeyFrame { keyFrame = (now, keyFrame == nil ? second : nil) }
            let isDue = keyFrame.map { now - $0.at >= $0.next ?? regular } ?? false
            queue.add(picture, isKeyFrame ? .keyFrame : .picture, byteCount: picture.coded.bytes.count, at: now)
            return queue.needsKeyFrame || isDue
        }

        /// Queues the sound that has arrived; returns whether there is any. The control thread and the push's thread
        /// both do this, so the packets are read and queued under one lock, which keeps their order.
        mutating func takeSound(_ now: MonotonicTime) -> Bool {
            let packets = inputs.sound?.take() ?? []
            guard takesFrames else { return false }
            for packet in packets { queue.add(packet, .sound, byteCount: packet.coded.bytes.count, at: now) }
            return !packets.isEmpty
        }

        /// The next step of the push's thread; nil if it has to wait.
        mutating func next(_ now: MonotonicTime, silenceDue: MonotonicTime) -> Next? {
            if now >= silenceDue {
                // The control thread may be late.
                _ = takeSound(now)
                // Waiting pictures are sent before the silence after them, as they are before sound.
                let until = now - queue.age(at: now)
                if until >= silenceDue, !queue.hasSound { return .silence(until: until) }
            }
            while let frame = queue.next() {
                // A frame that waited while the sharer paused or muted is no longer sent.
                let reader = frame.kind == .sound ? inputs.sound : inputs.pictures
                if reader?.shows(frame.element) != false { return .frame(frame.element) }
            }
            return isClosing ? .end : nil
        }
    }

    /// A step of the push's thread.
    enum Next {
        case frame(TrackFrame)
        /// No sound has come for so long that it is silent.
        case silence(until: MonotonicTime)
        case end
    }

    /// The reports of the push's thread to the control thread: what it has sent, and what its connection lacks.
    struct Progress {
        /// Also counts the pictures that arrive, on the thread that delivers them, because the meter compares them with
        /// the pictures that are sent.
        var meter: OutputMeter
        /// Whether the connection goes on without the sound that the track doesn't have yet.
        var lacksSound = false
        /// Whether pictures have arrived, though the connection goes on without them.
        var lacksPictures = false
        /// Whether the connection has ended its file, because the pictures have another format now.
        var hasEndedFile = false
    }
}
