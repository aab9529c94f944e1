import Clocks
import Ingest
public import MediaTypes
import Synchronization
import Threading
public import TrackHub

/// A video track of an application's own frames, published into a room.
///
/// ``write(_:)`` passes each frame on unchanged: viewers get exactly what the application writes. `Feedback` tells the
/// application when a key frame is needed, what bit rate the viewers' connections can take, and whether anyone watches.
/// May be used on any thread.
public final class CustomVideoTrack: PictureSource {
    /// What a track tells its application. The closures are called on the host's threads and must not block.
    public struct Feedback: Sendable {
        /// A viewer needs a key frame to continue: encode the next picture as one. Called at most once in 500 ms.
        public var keyFrameWanted: @Sendable () -> Void
        /// The bit rate that the viewers' connections seem to carry. There is no limit until it is first called.
        public var targetBitRateChanged: @Sendable (BitRate) -> Void
        /// Whether anyone watches now. While no one does, pictures need not be written.
        public var watchedChanged: @Sendable (Bool) -> Void
        /// The format of the next key frame, for a track with `changesChroma`: 4:2:0 while someone watches who can't
        /// decode 4:4:4.
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

    /// Whether the application makes a key frame on request. If not, the host's own encoder makes one from the last
    /// picture.
    public let makesKeyFrames: Bool
    /// Whether the application switches between 4:4:4 and 4:2:0 on request. It starts with 4:4:4.
    public let changesChroma: Bool

    private let feedback: Feedback
    private let ingest: Mutex<TrackIngest?>
    private let epoch = UInt64.random(in: 1 ... .max)

    /// A track that is not in a room yet. ``ScreenRelayHost/publish(_:)`` puts it into one.
    public init(makesKeyFrames: Bool = true, changesChroma: Bool = false, feedback: Feedback) {
        self.makesKeyFrames = makesKeyFrames
        self.changesChroma = changesChroma
        self.feedback = feedback
        ingest = Mutex(nil)
    }

    /// Writes the next frame, in decoding order. Only one thread may write at a time.
    ///
    /// A key frame must begin with its headers. The capture time is on this machine's CLOCK_MONOTONIC; if there is
    /// none, the time of this call is used. Does nothing before the track is put into a room and after it is removed.
    public func write(_ frame: CodedFrame) {
        guard let ingest = ingest.withLock({ $0 }) else { return }
        ingest.deliver(frame, from: self, epoch: epoch, arrival: MonotonicTime.now())
    }

    /// How many viewers watch now; 0 while the track is in no room.
    public var viewers: Int { ingest.withLock { $0 }?.hub.viewers ?? 0 }

    /// Puts the track into a room. Returns false if the room's track already has a source, or this track is in a room.
    func attach(to ingest: TrackIngest) -> Bool {
        // Set this before attaching, because the application may write as soon as it hears that a picture is wanted.
        // The room ignores what is written before that, since this is not its source yet.
        let isFree = self.ingest.withLock { current in
            guard current == nil else { return false }
            current = ingest
            return true
        }
        guard isFree else { return false }
        if ingest.attach(self) { return true }
        self.ingest.withLock { $0 = nil }
        return false
    }

    /// Takes the track out of its room. Viewers keep the last picture and are told `reason`.
    public func end(reason: String) {
        ingest.withLock { $0.take() }?.detach(self, reason: reason)
    }

    public func requestKeyFrame() { feedback.keyFrameWanted() }
    public func requestPicture() {
        // The application decides when pictures come.
    }
    public func setWatched(_ isRunning: Bool) { feedback.watchedChanged(isRunning) }
    public func setTargetBitRate(_ rate: BitRate) { feedback.targetBitRateChanged(rate) }
    public func setChroma(_ format: ChromaFormat) { feedback.chromaWanted(format) }
}
