import Clocks
import Ingest
public import MediaTypes
import Synchronization
import Threading
import TrackEncoding
public import TrackHub

/// A video track of an application's own frames or pictures, published into a room.
///
/// The initializer decides the kind: a track of frames passes the frames of ``write(_:)`` on unchanged, and a track of
/// pictures encodes the pictures of ``write(picture:captured:)``. `Feedback` notifies the application when a key frame
/// is needed, which bit rate the viewers' connections carry, and whether the track is watched. May be used on any
/// thread.
public final class CustomVideoTrack: PictureSource {
    /// The track's notifications to its application.
    ///
    /// The closures are called on any thread, the writing one included, but one at a time. They must not block.
    public struct Feedback: Sendable {
        /// A viewer needs a key frame to continue: encode the next picture as one. Called at most once in 500 ms, and
        /// never for a track of pictures.
        public var keyFrameWanted: @Sendable () -> Void
        /// The bit rate that the viewers' connections seem to carry. There is no limit until it is first called.
        public var targetBitRateChanged: @Sendable (BitRate) -> Void
        /// Whether the track is watched now. Otherwise pictures need not be written.
        public var watchedChanged: @Sendable (Bool) -> Void
        /// The format of the next key frame, for a track with `changesChroma`: 4:2:0 while a viewer can't decode 4:4:4.
        public var chromaWanted: @Sendable (ChromaFormat) -> Void

        /// Feedback that calls these closures.
        public init(
            keyFrameWanted: @escaping @Sendable () -> Void,
            targetBitRateChanged: @escaping @Sendable (BitRate) -> Void = { _ in },
            watchedChanged: @escaping @Sendable (Bool) -> Void = { _ in },
            chromaWanted: @escaping @Sendable (ChromaFormat) -> Void = { _ in }
        ) {
            self.keyFrameWanted = keyFrameWanted
            self.targetBitRateChanged = targetBitRateChanged
            self.watchedChanged = watchedChanged
            self.chromaWanted = chromaWanted
        }
    }

    /// Whether a key frame is made on request, as always for a track of pictures. If not, the host's own encoder makes
    /// one from the last picture.
    public let makesKeyFrames: Bool
    /// Whether the application switches between 4:4:4 and 4:2:0 on request. It starts with 4:4:4.
    public let changesChroma: Bool

    private let feedback: Feedback
    /// Nil for a track of frames.
    private let encoder: TrackEncoder?
    private let ingest: Mutex<TrackIngest?>
    private let recording = Mutex<SourceRecording?>(nil)
    private let epoch = UInt64.random(in: 1 ... .max)

    /// A track of frames that is not in a room yet. ``HostedTrack/publish(_:)-(CustomVideoTrack)`` puts it into one.
    public init(makesKeyFrames: Bool = true, changesChroma: Bool = false, feedback: Feedback) {
        self.makesKeyFrames = makesKeyFrames
        self.changesChroma = changesChroma
        self.feedback = feedback
        encoder = nil
        ingest = Mutex(nil)
    }

    /// A track of pictures, which the host encodes, and that is not in a room yet.
    ///
    /// - Parameters:
    ///   - picturesPerSecond: how many are written per second, 1...240. If more are written, the bit rate is too high.
    ///   - highestBitRate: the rate that is not exceeded even if the viewers' connections carry more. Pictures that
    ///     hardly change need far less.
    ///   - feedback: what the application is told, except of what the host's encoder does itself.
    /// - Throws: ``HostError/system(_:)`` if the process has no thread or descriptor left.
    public convenience init(
        picturesPerSecond: Int, highestBitRate: BitRate = BitRate(bitsPerSecond: 8_000_000),
        feedback: Feedback = Feedback(keyFrameWanted: {})
    ) throws(HostError) {
        guard let encoder = TrackEncoder(picturesPerSecond: picturesPerSecond, highestRate: highestBitRate) else {
            throw .system("no descriptor left for a track's encoder")
        }
        try self.init(encoder, feedback: feedback)
    }

    /// A track of pictures that `encoder` encodes.
    init(_ encoder: TrackEncoder, feedback: Feedback) throws(HostError) {
        makesKeyFrames = true
        changesChroma = false
        self.feedback = feedback
        self.encoder = encoder
        ingest = Mutex(nil)
        guard encoder.start(deliver: { [weak self] in _ = self?.deliver($0) }) else {
            throw .system("no thread left for a track's encoder")
        }
    }

    deinit {
        encoder?.stop()
    }

    /// Writes the next frame of a track of frames, in decoding order. Only one thread may write at a time.
    ///
    /// A key frame must begin with its headers. The capture time is on this machine's CLOCK_MONOTONIC; if there is
    /// none, the time of this call is used.
    ///
    /// - Returns: nil if the frame is on its way to the viewers that there are; otherwise why it is left out.
    @discardableResult
    public func write(_ frame: CodedFrame) -> WriteError? {
        guard encoder == nil else { return .wrongKind }
        if let format = frame.format, format.kind != .video { return .wrongCodec }
        if frame.units.isEmpty { return .empty }
        return deliver(frame) ? nil : .notPublished
    }

    /// Writes the next picture of a track of pictures. Only one thread may write at a time.
    ///
    /// While the track is watched, the picture is encoded before the call returns: some 4 ms for 1920x1080, and more
    /// where much changes. Otherwise the newest picture is kept, and is the first that the next viewer gets. Pictures
    /// may have any size and colours; another size begins with a key frame.
    ///
    /// - Parameters:
    ///   - picture: the picture.
    ///   - captured: when it was captured, on this machine's CLOCK_MONOTONIC; nil for the picture's own time, or if it
    ///     has none, for now.
    /// - Returns: nil if the picture is encoded or kept; otherwise why it is left out. The next call reports an encoder
    ///   that fails on another thread.
    @discardableResult
    public func write(picture: I420Picture, captured: MonotonicTime? = nil) -> WriteError? {
        guard let encoder else { return .wrongKind }
        guard TrackEncoder.takes(picture) else { return .wrongSize }
        let isDone = encoder.write(picture, captured: captured ?? picture.captureTime ?? MonotonicTime.now())
        return isDone ? nil : .encoderFailed
    }

    /// Drops the last picture, which no longer shows the source's state, unless the track is watched.
    package func forgetPicture() { encoder?.forget() }

    /// Returns false if the track is in no room.
    @discardableResult
    private func deliver(_ frame: CodedFrame) -> Bool {
        guard let ingest = ingest.withLock({ $0 }) else { return false }
        let now = MonotonicTime.now()
        let isHidden = ingest.hub.isPausedBySharer
        let wantsKeyFrame = recording.withLock { $0?.record(frame, isHidden: isHidden, at: now) ?? false }
        if wantsKeyFrame, makesKeyFrames { ingest.hub.requestKeyFrame(now: now) }
        ingest.deliver(frame, from: self, epoch: epoch, arrival: now)
        return true
    }

    /// How many viewers watch now; 0 while the track is in no room.
    public var viewers: Int { ingest.withLock { $0 }?.hub.viewers ?? 0 }

    /// Puts the track into a room, where `recorder` records it if there is one. Returns false if the room's track
    /// already has a source, or this track is in a room.
    func attach(to ingest: TrackIngest, recorder: LinkRecorder?) -> Bool {
        // Set this before attaching, because the application may write as soon as it is notified that a picture is
        // wanted. The room ignores earlier pictures, since this track is not its source yet.
        let isFree = self.ingest.withLock { current in
            guard current == nil else { return false }
            current = ingest
            return true
        }
        guard isFree else { return false }
        guard ingest.attach(self) else {
            self.ingest.withLock { $0 = nil }
            return false
        }
        // Not before, since a track that has another source must not be recorded.
        if let recorder {
            recording.withLock { $0 = SourceRecording(recorder, epoch: epoch, at: MonotonicTime.now()) }
        }
        // The application may have ended it meanwhile.
        if self.ingest.withLock({ $0 === ingest }) { return true }
        ingest.detach(self, reason: "the track has ended")
        return false
    }

    /// Removes the track from its room. Viewers keep the last picture and receive `reason`.
    public func end(reason: String) {
        encoder?.finish()
        recording.withLock { $0 = nil }
        ingest.withLock { $0.take() }?.detach(self, reason: reason)
    }

    public func requestKeyFrame() {
        if let encoder { encoder.requestKeyFrame() } else { feedback.keyFrameWanted() }
    }
    /// For a track of frames, does nothing: the application decides when to write.
    public func requestPicture() { encoder?.requestPicture() }
    public func setWatched(_ isRunning: Bool) {
        encoder?.setWatched(isRunning)
        feedback.watchedChanged(isRunning)
    }
    public func setTargetBitRate(_ rate: BitRate) {
        encoder?.setTargetBitRate(rate)
        feedback.targetBitRateChanged(rate)
    }
    /// If key frames aren't made on request, nothing is encoded here: the frames are passed on unchanged.
    public var obeys: SourceOrders { makesKeyFrames ? .bitRate : [] }
    public func setChroma(_ format: ChromaFormat) { feedback.chromaWanted(format) }
}
