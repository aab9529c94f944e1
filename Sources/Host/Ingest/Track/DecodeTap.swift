import Clocks
import LockOrder
import MediaTypes
import Synchronization
import Threading
import TrackHub
import VideoDecoding

/// Decodes the track's stream on a thread of its own, without delaying it.
///
/// It checks that the stream can be decoded, keeps the last picture, and makes a key frame from it if the source can't
/// make one. It never holds up a source that makes key frames: if it falls behind, it skips frames up to the next one.
final class DecodeTap: Sendable {
    /// The most that may wait to be decoded: a second of pictures, or a few large ones.
    private static let waitingFrames = 60
    private static let waitingBytes = 16 << 20

    private let inbox: RankedMutex<Inbox>
    private let wake: EventFD
    /// Signalled when the inbox has been emptied, for a source that waits for room.
    private let room: EventFD
    private let thread: Mutex<NamedThread?>
    /// Which of the source's frames are checked; nil while no viewer checks its pictures.
    private let checks = Mutex<PictureChecks?>(nil)
    /// Whether `checks` has a value. Each frame looks at this, so that it takes no lock for nothing.
    private let areChecked = Atomic(false)

    /// The work that waits for the tap's thread.
    struct Inbox {
        var frames: [Delivery] = []
        var byteCount = 0
        /// Closed once frames were dropped.
        var gate = RandomAccessGate(isClosed: false)
        /// When to make a key frame from the last picture, unless the source's own key frame arrives first.
        var makeKeyFrameAt: MonotonicTime?
        var makesKeyFrames = false
        var snapshots: [SnapshotRequest] = []
        var isStopped = false
        /// Whether it is time to make a key frame.
        var isKeyFrameDue = false
        /// The bit rate of the low layer; nil if nobody takes it.
        var lowRate: BitRate?
        /// Whether the low layer had no reader at some time since the thread last looked. Its next pictures are a new
        /// stream then.
        var endsLow = false
        /// Whether the low layer's next picture must be a key frame.
        var needsLowKeyFrame = false
        /// Whether viewers check their pictures.
        var areChecked = false
    }

    /// One frame of the source.
    struct Delivery {
        var frame: CodedFrame
        var epoch: UInt64
        var arrival: MonotonicTime
        /// The frame's number; the source's frames are counted from 1.
        var number: UInt64
    }

    /// A request for a picture that arrived at `from` or later; if `from` is nil, any picture will do. Until
    /// `refinedBy`, it waits for the finer pictures that the source is about to send.
    struct SnapshotRequest {
        var from: MonotonicTime?
        var refinedBy = MonotonicTime.zero
        var deadline: MonotonicTime
        /// Called with the picture and the number of the source's frame that it shows.
        var completion: @Sendable (I420Picture?, UInt64) -> Void
    }

    private let log: EventLog

    init(log: EventLog) throws(IngestError) {
        guard let wake = EventFD(), let room = EventFD() else { throw .system("no descriptor left for the decode tap") }
        self.wake = wake
        self.room = room
        self.log = log
        inbox = RankedMutex(Inbox(), .innermost)
        thread = Mutex(nil)
    }

    deinit {
        // Answer the requests that the thread never saw.
        for request in inbox.withLock({ $0.snapshots }) { request.completion(nil, 0) }
    }

    /// Starts the thread, on which all closures except `startThread` are called.
    ///
    /// - Throws: if the system has no thread left. Without the thread nobody would answer a snapshot, and a source
    ///   without key frames would wait for an inbox that is never emptied.
    /// - Parameters:
    ///   - onFailure: called when a picture can't be decoded and a key frame is needed.
    ///   - onPicture: called with each picture that the host's own encoder makes, and with the epoch and number of the
    ///     delivery that it shows; returns whether the host's encoder carries the track now.
    ///   - onLowPicture: called with each picture of the low layer, and with the same numbers; returns whether the
    ///     picture got a place on the track.
    ///   - startThread: starts the thread.
    func start(
        onFailure: @escaping @Sendable () -> Void,
        onPicture: @escaping @Sendable (CodedFrame, UInt64, UInt64) -> Bool,
        onLowPicture: @escaping @Sendable (CodedFrame, UInt64, UInt64) -> Bool = { _, _, _ in true },
        startThread: (_ name: String, _ body: @escaping @Sendable () -> Void) -> NamedThread? = {
            // A media thread that wants the same processor must win: what it sends late is late for all of its viewers.
            // What is decoded late delays only snapshots, the low layer, key frames of the host's own encoder, and the
            // checked pictures of viewers that ask for samples.
            NamedThread($0, hasLowPriority: true, body: $1)
        }
    ) throws(IngestError) {
        let wake = self.wake
        let log = self.log
        // The thread holds a reference to the tap only while it takes work, so that it ends when the tap is released.
        let started = startThread("decode-tap") { [weak self] in
            let work = DecodeTapWorker(
                log: log, onFailure: onFailure, onPicture: onPicture, onLowPicture: onLowPicture)
            while let taken = self?.takeInbox(), work.perform(taken) {
                wake.wait(until: min(work.nextDeadline, taken.makeKeyFrameAt ?? .distantFuture))
            }
            work.abandon()
        }
        guard let started else {
            stop()
            throw .system("no thread left for the decode tap")
        }
        thread.withLock { $0 = started }
    }

    /// Ends the thread. Pending snapshot requests are answered with nil, and no source waits for room any more.
    func stop() {
        inbox.withLock { $0.isStopped = true }
        wake.signal()
        room.signal()
    }

    /// If the source makes no key frames, waits until there is room for `frame`, for 5 s at most.
    func awaitRoom(for frame: CodedFrame) {
        let deadline = MonotonicTime.now() + .seconds(5)
        while MonotonicTime.now() < deadline {
            let mustWait = inbox.withLock { inbox in
                !inbox.makesKeyFrames && !inbox.isStopped && inbox.byteCount > 0
                    && inbox.byteCount + frame.bytes.count > Self.waitingBytes
            }
            guard mustWait else { return }
            room.wait(until: deadline)
        }
    }

    /// Takes the source's next frame. Returns false if the tap has fallen behind with this frame and now skips frames
    /// up to the next key frame.
    func take(_ delivery: Delivery) -> Bool {
        let isFirstLoss = inbox.withLock { inbox in
            if delivery.frame.isRandomAccess { inbox.makeKeyFrameAt = nil }
            let isFull =
                (inbox.makesKeyFrames && inbox.frames.count >= Self.waitingFrames)
                || inbox.byteCount + delivery.frame.bytes.count > Self.waitingBytes
            let wasClosed = inbox.gate.isClosed
            if isFull {
                inbox.frames.removeAll()
                inbox.byteCount = 0
                inbox.gate.close()
            }
            guard inbox.gate.passes(isRandomAccess: delivery.frame.isRandomAccess) else { return !wasClosed }
            inbox.frames.append(delivery)
            inbox.byteCount += delivery.frame.bytes.count
            return false
        }
        wake.signal()
        return !isFirstLoss
    }

    /// Sets whether the source makes key frames when asked. If it doesn't, the tap goes on decoding after an error.
    func sourceChanged(makesKeyFrames: Bool) {
        inbox.withLock { $0.makesKeyFrames = makesKeyFrames }
        wake.signal()
    }

    /// Makes a key frame from the last picture at `moment`, unless a key frame of the source arrives before then.
    func makeKeyFrame(at moment: MonotonicTime) {
        inbox.withLock { inbox in inbox.makeKeyFrameAt = min(moment, inbox.makeKeyFrameAt ?? .distantFuture) }
        wake.signal()
    }

    /// Sets the bit rate at which pictures are encoded for the low layer; nil if nobody takes it.
    func encodeLow(at rate: BitRate?) {
        inbox.withLock { inbox in
            inbox.lowRate = rate
            if rate == nil { inbox.endsLow = true }
        }
        wake.signal()
    }

    /// Makes a key frame for the low layer as soon as its rate allows.
    func makeLowKeyFrame() {
        inbox.withLock { $0.needsLowKeyFrame = true }
        wake.signal()
    }

    /// Sets whether viewers check their pictures.
    func checkPictures(_ areChecked: Bool) {
        checks.withLock { $0 = areChecked ? PictureChecks() : nil }
        self.areChecked.store(areChecked, ordering: .relaxed)
        inbox.withLock { $0.areChecked = areChecked }
    }

    /// A check of the source's next frame, for which the tap finds the samples; nil if the frame isn't checked.
    func makeCheck(of frame: CodedFrame, arrival: MonotonicTime) -> PictureCheck? {
        guard areChecked.load(ordering: .relaxed) else { return nil }
        let takes = checks.withLock { $0?.takes(isKeyFrame: frame.isRandomAccess, arrival: arrival) }
        return takes == true ? PictureCheck() : nil
    }

    func snapshot(
        from: MonotonicTime?, refinedBy: MonotonicTime = .zero, until deadline: MonotonicTime,
        completion: @escaping @Sendable (I420Picture?, _ number: UInt64) -> Void
    ) {
        inbox.withLock {
            $0.snapshots.append(
                SnapshotRequest(from: from, refinedBy: refinedBy, deadline: deadline, completion: completion))
        }
        wake.signal()
    }

    /// Takes the frames and requests out of the inbox; its other values stay.
    ///
    /// While frames wait to be decoded, no key frame is due: a newer picture is on its way, and perhaps the source's
    /// own key frame. The thread looks again when it has decoded them.
    private func takeInbox() -> Inbox {
        let now = MonotonicTime.now()
        let taken = inbox.withLock { inbox in
            if let due = inbox.makeKeyFrameAt, due <= now, inbox.frames.isEmpty {
                inbox.makeKeyFrameAt = nil
                inbox.isKeyFrameDue = true
            }
            let taken = inbox
            inbox.frames = []
            inbox.byteCount = 0
            inbox.snapshots = []
            inbox.isKeyFrameDue = false
            inbox.needsLowKeyFrame = false
            inbox.endsLow = false
            return taken
        }
        if !taken.makesKeyFrames { room.signal() }
        return taken
    }
}
