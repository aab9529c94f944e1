import Clocks
import MediaTypes
import Threading
import TrackEncoding
import TrackHub

/// The source of a published track: an application's frames, or its pictures and their encoder. May be used on any
/// thread.
final class PublicationSource: PictureSource {
    /// The track, whose only viewer is the host.
    let hub = TrackHub(origin: .now())
    /// Nil for the application's own frames.
    let encoder: TrackEncoder?

    private let keyFrameWanted: @Sendable () -> Void
    private let targetBitRateChanged: @Sendable (BitRate) -> Void
    private let epoch = UInt64.random(in: 1 ... .max)

    /// A source of pictures.
    init(picturesPerSecond: Int, highestBitRate: BitRate) throws(RoomClientError) {
        guard let encoder = TrackEncoder(picturesPerSecond: picturesPerSecond, highestRate: highestBitRate) else {
            throw .system("no descriptor left for an encoder")
        }
        self.encoder = encoder
        keyFrameWanted = {}
        targetBitRateChanged = { _ in }
        guard encoder.start(deliver: { [weak self] in self?.deliver($0) }) else {
            throw .system("no thread left for an encoder")
        }
        _ = hub.attach(self, now: .now())
    }

    /// A source of frames.
    init(
        keyFrameWanted: @escaping @Sendable () -> Void, targetBitRateChanged: @escaping @Sendable (BitRate) -> Void
    ) {
        encoder = nil
        self.keyFrameWanted = keyFrameWanted
        self.targetBitRateChanged = targetBitRateChanged
        _ = hub.attach(self, now: .now())
    }

    deinit { encoder?.stop() }

    /// Passes a frame on to the host. After ``end()``, does nothing.
    func deliver(_ frame: CodedFrame) {
        _ = hub.deliver(frame, from: self, epoch: epoch, arrival: .now())
    }

    /// Leaves the track, which would otherwise keep it alive.
    func end() {
        encoder?.stop()
        hub.detach(self, reason: "the publication has ended", now: .now())
    }

    // MARK: For the track

    var makesKeyFrames: Bool { true }
    var obeys: SourceOrders { .bitRate }

    func requestKeyFrame() {
        if let encoder { encoder.requestKeyFrame() } else { keyFrameWanted() }
    }

    /// For the application's own frames, does nothing: it decides when to write.
    func requestPicture() { encoder?.requestPicture() }
    func setWatched(_ isRunning: Bool) { encoder?.setWatched(isRunning) }
    func setTargetBitRate(_ rate: BitRate) {
        encoder?.setTargetBitRate(rate)
        targetBitRateChanged(rate)
    }
}

/// A published track, until it ends. May be used on any thread.
final class PublishedTrack: Sendable {
    let name: String
    let source: PublicationSource
    let events = EventQueue<PublicationEvent>()
    private let isOver = Flag()

    init(_ name: String, _ source: PublicationSource) {
        self.name = name
        self.source = source
    }

    /// Whether it has ended.
    var hasEnded: Bool { isOver.isSet }

    /// Ends it, for this reason. Further calls do nothing.
    func end(_ end: RoomEnd) {
        guard !isOver.set() else { return }
        source.end()
        events.finish(.ended(end))
    }
}
