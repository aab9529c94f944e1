import CaptureLink
import Clocks
public import MediaTypes
public import Threading
public import TrackHub

/// The start of a track: passes its source's frames unchanged to the hub, and to the decode tap as well.
///
/// While viewers can't join the source's stream, because it makes no key frame, the tap's own encoder carries the track
/// on, until the source's next key frame. All methods may be called on any thread.
public final class TrackIngest: TrackObserver {
    /// The hub of the track, which its source and its readers use.
    public let hub: TrackHub

    /// How long after a source was woken snapshots wait for its refinement.
    private static let refinementTimeout = Interval.seconds(2)

    private let tap: DecodeTap
    private let onStateChange: @Sendable (SourceState) -> Void
    private let onPointer: @Sendable (PointerReport) -> Void
    private let log: EventLog

    /// Creates the start of a track that feeds `hub`, with a decode tap on a thread of its own.
    ///
    /// - Parameters:
    ///   - onStateChange: called with the source's new state, on any thread, but on one at a time.
    ///   - onPointer: called with each report about the pointer, on any thread, but on one at a time; must not block.
    /// - Throws: ``IngestError`` if the system has no thread or descriptor left.
    public init(
        hub: TrackHub, log: EventLog, onStateChange: @escaping @Sendable (SourceState) -> Void = { _ in },
        onPointer: @escaping @Sendable (PointerReport) -> Void = { _ in }
    ) throws(IngestError) {
        self.hub = hub
        // Anybody could fill the log: a source by pictures that can't be decoded, and viewers by coming and going.
        let log = LogRateLimiter(log)(of: "")
        self.log = log
        self.onStateChange = onStateChange
        self.onPointer = onPointer
        tap = try DecodeTap(log: log)
        try tap.start(
            onFailure: { [weak hub] in hub?.requestKeyFrame(now: MonotonicTime.now()) },
            onPicture: { [weak hub] frame, epoch, number in
                hub?.publishFallback(frame, epoch: epoch, number: number, now: MonotonicTime.now()) != nil
            },
            onLowPicture: { [weak hub] frame, epoch, number in
                hub?.takeLow(frame, epoch: epoch, number: number, now: MonotonicTime.now()) == true
            })
        hub.connect(self)
    }

    deinit {
        tap.stop()
    }

    public func perform(_ action: TrackAction) {
        switch action {
        case .tell(.chroma(let format)):
            log.info(
                format == .yuv420
                    ? "a viewer can't decode 4:4:4: switching to 4:2:0" : "switching back to 4:4:4")
        case .sourceChanged(let canMakeKeyFrames): tap.sourceChanged(makesKeyFrames: canMakeKeyFrames)
        case .makeKeyFrame(let delay): tap.makeKeyFrame(at: MonotonicTime.now() + delay)
        case .encodeLow(let rate): tap.encodeLow(at: rate)
        case .makeLowKeyFrame: tap.makeLowKeyFrame()
        case .checkPictures(let areChecked): tap.checkPictures(areChecked)
        case .noteFallbackBegan: log.info("the source makes no key frame now: the host's own encoder carries on")
        case .announce(let state): onStateChange(state)
        case .report(let report): onPointer(report)
        case .tell, .requestKeyFrame, .requestPicture, .setSharerPaused, .setMicrophoneMuted, .setPointerMode:
            break
        }
    }

    // MARK: For the source

    /// Makes `source` the one whose frames are taken. There is one at a time: returns false if another is still there.
    public func attach(_ source: any PictureSource) -> Bool { hub.attach(source, now: MonotonicTime.now()) }

    /// Detaches `source`, which went away; its last frame stays on the track.
    public func detach(_ source: any PictureSource, reason: String) {
        hub.detach(source, reason: reason, now: MonotonicTime.now())
    }

    /// Takes the next frame of `source`, in order, on the source's thread. A frame of another source than the track's
    /// is left out.
    ///
    /// Waits while the tap is far behind a source that makes no key frames: if a picture of such a stream were dropped,
    /// nothing after it could be decoded. Never waits for a source that makes key frames.
    public func deliver(
        _ frame: CodedFrame, from source: any PictureSource, epoch: UInt64, arrival: MonotonicTime
    ) {
        if !source.makesKeyFrames, hub.source === source { tap.awaitRoom(for: frame) }
        var frame = frame
        frame.check = frame.check ?? tap.makeCheck(of: frame, arrival: arrival)
        hub.deliver(frame, from: source, epoch: epoch, arrival: arrival) { [frame] number in
            !tap.take(DecodeTap.Delivery(frame: frame, epoch: epoch, arrival: arrival, number: number))
        }
    }

    // MARK: For people

    /// Sets whether what the source sends is recorded. A recording counts as a viewer, so the source doesn't pause.
    public func setRecorded(_ isRecorded: Bool) { hub.setRecorded(isRecorded, now: MonotonicTime.now()) }

    /// Sets the limits of the current source, and of those that come after it.
    public func limit(_ limits: SourceLimits) { hub.limit(limits, now: MonotonicTime.now()) }

    /// Asks the source to encode the parts that stand still in finer quality than usual. Returns false if there is no
    /// source that can.
    @discardableResult
    public func sharpen() -> Bool {
        guard let source = hub.source, source.obeys.contains(.sharpen) else { return false }
        source.sharpen()
        return true
    }

    /// Passes the last picture to `completion`, on the tap's thread; nil if none has arrived within `timeout`, or if
    /// the sharer has paused and no slate has come.
    ///
    /// A paused source is woken. Its first new picture may be as coarse as the rate limit wants, so the finer ones that
    /// it is about to send are waited for, for a moment. The last picture of a source that has been running for longer
    /// is what viewers see.
    public func snapshot(timeout: Interval, completion: @escaping @Sendable (I420Picture?) -> Void) {
        let now = MonotonicTime.now()
        guard hub.takesKeyFrame else {
            completion(nil)
            return
        }
        let runningSince = hub.changeSnapshots(by: 1, now: now)
        let from = hub.source?.makesKeyFrames == true ? runningSince : nil
        let refinedBy = runningSince.map { $0 + min(Self.refinementTimeout, timeout) } ?? .zero
        tap.snapshot(from: from, refinedBy: refinedBy, until: now + timeout) { [weak hub] picture, number in
            // The sharer may have paused meanwhile; if so, this picture may show the screen as it was before.
            completion(hub?.shows(number) == true ? picture : nil)
            hub?.changeSnapshots(by: -1, now: MonotonicTime.now())
        }
    }
}
