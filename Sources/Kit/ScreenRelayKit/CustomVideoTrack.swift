public import Ingest
public import MediaTypes
import Synchronization
import Threading
import TrackHub

/// A video track of an application's own access units, published into a room.
///
/// ``write(_:)`` passes each access unit on as it is: what is written is what viewers get. The way back tells the application
/// when an IDR is needed, what the viewers' paths carry, and how many watch. May be used on any thread.
public final class CustomVideoTrack: PictureSource {
    /// What a track tells its application. The closures are called on threads of the host and must not block.
    public struct Feedback: Sendable {
        /// Someone can't go on without an IDR picture: make the next one an IDR. At most once in 500 ms.
        public var keyFrameWanted: @Sendable () -> Void
        /// The bit rate that the viewers' paths seem to carry; until it is first called, nothing limits the application.
        public var targetBitRateChanged: @Sendable (BitRate) -> Void
        /// Whether anybody looks now; while nobody does, pictures need not be written.
        public var watchedChanged: @Sendable (Bool) -> Void
        /// The format of the next IDR picture, for a track that was made with `changesChroma`: 4:2:0 while someone watches who
        /// doesn't decode 4:4:4.
        public var chromaWanted: @Sendable (ChromaFormat) -> Void

        /// Feedback that goes to these closures.
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

    /// Whether the application makes an IDR when asked. If not, the host's own encoder makes one from the last picture.
    public let canMakeIDR: Bool
    /// Whether the application writes 4:4:4 or 4:2:0 as it is asked, 4:4:4 to begin with.
    public let changesChroma: Bool

    private let feedback: Feedback
    private let ingest: Mutex<TrackIngest?>
    private let epoch = UInt64.random(in: 1 ... .max)

    /// A track that is not in a room yet: ``ScreenRelayHost/publish(_:)`` puts it into one.
    public init(canMakeIDR: Bool = true, changesChroma: Bool = false, feedback: Feedback) {
        self.canMakeIDR = canMakeIDR
        self.changesChroma = changesChroma
        self.feedback = feedback
        ingest = Mutex(nil)
    }

    /// Writes the next access unit, in decoding order; one writer at a time.
    ///
    /// An IDR access unit must begin with its SPS and PPS. The capture time is on CLOCK_MONOTONIC of this machine; without
    /// one, the time of writing counts. Before the track is in a room, and after it was taken out, writing does nothing.
    public func write(_ unit: AccessUnit) {
        guard let ingest = ingest.withLock({ $0 }) else { return }
        ingest.deliver(unit, from: self, epoch: epoch, arrival: monotonicNow())
    }

    /// How many watch now; 0 while the track is in no room.
    public var viewers: Int { ingest.withLock { $0?.hub.viewers ?? 0 } }

    /// Puts the track into a room; false where the room has a source already, or the track is in a room.
    func attach(to ingest: TrackIngest) -> Bool {
        // Before it is attached, because the application may write as soon as it hears that a picture is wanted. What is written
        // before that, the room leaves out: it isn't its source's.
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

    /// Takes the track out of its room; viewers keep the last picture and are told `reason`.
    public func end(reason: String) {
        let attached = ingest.withLock { ingest in
            let attached = ingest
            ingest = nil
            return attached
        }
        attached?.detach(self, reason: reason)
    }

    public func requestIDR() { feedback.keyFrameWanted() }
    public func requestPicture() {
        // The application's pictures come when they come.
    }
    public func setRunning(_ isRunning: Bool) { feedback.watchedChanged(isRunning) }
    public func setTargetBitRate(_ rate: BitRate) { feedback.targetBitRateChanged(rate) }
    public func setChroma(_ format: ChromaFormat) { feedback.chromaWanted(format) }
}
