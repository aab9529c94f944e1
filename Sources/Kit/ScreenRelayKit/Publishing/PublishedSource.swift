import CaptureLink
import Clocks
import CodecTable
import Dispatch
import Ingest
import MediaTypes
import Synchronization
import Threading
import TrackHub
import WebRTC

/// A publisher's video as the source of a track. Frames come from the media thread; a separate thread passes them
/// on, because the track's ingest may block its source. Its sound is a ``PublishedAudio``.
///
/// A publisher sends even without viewers. Key frames are requested only from a publisher that declares that it makes
/// key frames on request. After an ignored request, the host's own encoder makes key frames instead.
final class PublishedSource: PictureSource, PublishedFrameReceiver {
    /// The most that may wait for the track: a few seconds of pictures.
    private static let waitingFrames = 256
    private static let waitingBytes = 32 << 20
    /// How long pictures are dropped while waiting for a key frame that can't be requested.
    private static let timeout = Interval.seconds(2)

    /// The publisher's sound.
    let sound = PublishedAudio()
    private let log: EventLog
    private let epoch = UInt64.random(in: 1 ... .max)
    private let wake: EventFD
    private let state = Mutex(State())
    /// Left when the source no longer occupies the track.
    private let attachment = DispatchGroup()

    private struct State {
        var waiting: [PublishedFrame] = []
        var waitingBytes = 0
        /// Since when pictures are dropped because they depend on dropped ones. Nil while none are.
        var needsKeyFrameSince: MonotonicTime?
        var makesKeyFrames = false
        var askForKeyFrame: (@Sendable () -> Void)?
        /// The track that the source is attached to.
        var ingest: TrackIngest?
        var end: String?
        /// When the last frame arrived, of video or audio.
        var lastArrival = MonotonicTime.zero
        /// Whether the source no longer occupies the track.
        var hasLetGo = false
    }

    /// A source that has no track yet. Nil if the process has no descriptor left.
    init?(log: EventLog) {
        guard let wake = EventFD() else { return nil }
        self.wake = wake
        self.log = log
    }

    /// Makes this the source of the track. Returns false if the track has another source or the system has no thread
    /// left. Call it only once.
    ///
    /// - Parameters:
    ///   - ingest: the track's ingest.
    ///   - recorder: the track's recorder, or nil if it is not recorded.
    ///   - predecessor: a source of the track that has ended but may still occupy it.
    ///   - askForKeyFrame: requests a key frame from the publisher, or nil if it can't be asked.
    ///   - onFailure: called if another source took the track when the predecessor left it.
    func attach(
        to ingest: TrackIngest, recorder: LinkRecorder?, after predecessor: PublishedSource?,
        askForKeyFrame: (@Sendable () -> Void)?,
        onFailure: @escaping @Sendable () -> Void
    ) -> Bool {
        state.withLock { state in
            state.ingest = ingest
            state.askForKeyFrame = askForKeyFrame
            state.makesKeyFrames = askForKeyFrame != nil
        }
        // Asked first: it may let go between the two.
        let isPredecessorLettingGo = predecessor?.isLettingGo == true
        let isAttached = ingest.attach(self)
        // A source of another kind took the track meanwhile: it won't let go with the predecessor.
        let isTaken = ingest.hub.source.map { !($0 is PublishedSource) } ?? false
        guard isAttached || isPredecessorLettingGo && !isTaken else { return false }
        attachment.enter()
        // The thread keeps the source alive until it has ended.
        let thread = NamedThread("publisher") { [self] in
            if isAttached || Self.attach(self, to: ingest, after: predecessor) {
                run(into: ingest, recorder)
            } else {
                onFailure()
            }
            state.withLock { $0.hasLetGo = true }
            attachment.leave()
        }
        if thread != nil { return true }
        log.error("no thread left for a publisher")
        ingest.detach(self, reason: "the host has no thread left")
        attachment.leave()
        return false
    }

    private static func attach(
        _ source: PublishedSource, to ingest: TrackIngest, after predecessor: PublishedSource?
    ) -> Bool {
        _ = predecessor?.attachment.wait(timeout: .now() + .seconds(10))
        return ingest.attach(source)
    }

    /// Whether the source has ended, but its last pictures are still being passed on.
    var isLettingGo: Bool { state.withLock { $0.end != nil && !$0.hasLetGo } }

    /// Whether the source has ended.
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    /// Whether a frame has arrived since `time`.
    func hasReceived(since time: MonotonicTime) -> Bool { state.withLock { $0.lastArrival > time } }

    /// Ends the source: the track keeps its last picture, and viewers receive `reason`. Idempotent.
    func end(reason: String) {
        // First, so that the publisher that replaces this one finds no sound on the track.
        sound.end(reason: reason, now: MonotonicTime.now())
        state.withLock { state in
            if state.end == nil { state.end = reason }
        }
        wake.signal()
    }

    // MARK: Frames of the publisher

    func receive(_ frame: PublishedFrame) {
        guard frame.codec.kind == .video else {
            state.withLock { $0.lastArrival = frame.arrival }
            return sound.receive(frame)
        }
        let isFirstLoss = state.withLock { state in
            state.lastArrival = frame.arrival
            if frame.isRandomAccess { state.needsKeyFrameSince = nil }
            // If a key frame can't be requested, it may never arrive.
            if !state.makesKeyFrames, let since = state.needsKeyFrameSince, frame.arrival - since >= Self.timeout {
                state.needsKeyFrameSince = nil
            }
            let isFull =
                state.waiting.count >= Self.waitingFrames
                || state.waitingBytes + frame.byteCount > Self.waitingBytes && !state.waiting.isEmpty
            let hadLoss = state.needsKeyFrameSince != nil
            if isFull {
                state.waiting = []
                state.waitingBytes = 0
                state.needsKeyFrameSince = frame.isRandomAccess ? nil : frame.arrival
            }
            if state.needsKeyFrameSince == nil || !frame.hasMedia {
                state.waiting.append(frame)
                state.waitingBytes += frame.byteCount
            }
            return state.needsKeyFrameSince != nil && !hadLoss
        }
        wake.signal()
        if isFirstLoss { requestKeyFrame() }
    }

    func keyFrameRequestsIgnored() {
        let ingest = state.withLock { state in
            state.makesKeyFrames = false
            return state.ingest
        }
        log.info("a publisher ignores requests for key frames: the host's own encoder makes them when needed")
        ingest?.hub.abilitiesChanged(of: self, now: MonotonicTime.now())
    }

    // MARK: Requests of the track

    var makesKeyFrames: Bool { state.withLock { $0.makesKeyFrames } }
    var restsUnwatched: Bool { false }

    func requestKeyFrame() {
        let ask = state.withLock { $0.askForKeyFrame }
        ask?()
    }

    // MARK: The thread

    private func run(into ingest: TrackIngest, _ recorder: LinkRecorder?) {
        var builder: (any FrameBuilder)?
        var recording = recorder.map { PublicationRecording($0, epoch: epoch, at: MonotonicTime.now()) }
        while true {
            let (frames, end) = state.withLock { state in
                defer {
                    state.waiting = []
                    state.waitingBytes = 0
                }
                return (state.waiting, state.end)
            }
            for frame in frames {
                if builder == nil { builder = frame.codec.coding.makeBuilder() }
                for unit in frame.units { builder?.add(unit, captureTime: frame.captureTime) }
                builder?.endFrame()
                while let accessUnit = builder?.next() {
                    let wantsKeyFrame = recording?.record(accessUnit, at: frame.arrival) ?? false
                    if wantsKeyFrame, makesKeyFrames { requestKeyFrame() }
                    ingest.deliver(accessUnit, from: self, epoch: epoch, arrival: frame.arrival)
                }
            }
            if let end {
                ingest.detach(self, reason: end)
                return
            }
            if frames.isEmpty { wake.wait() }
        }
    }
}
