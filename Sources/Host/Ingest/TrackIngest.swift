public import CaptureLink
public import MediaTypes
import Synchronization
public import Threading
public import TrackHub

/// The head of a track: takes access units from its source, hands them to the hub as they are, and keeps the decode tap
/// beside that way.
///
/// While the source's stream can't be joined (no IDR to be had), the tap's own encoder carries the track on, until the
/// source's next IDR. All methods may be called on any thread.
public final class TrackIngest: TrackSource {
    /// Where the track's readers are.
    public let hub: TrackHub

    let way: Mutex<TrackWay>
    let attachment: Mutex<Attachment>
    private let tap: DecodeTap
    let onStateChange: @Sendable (SourceState) -> Void
    let onPointer: @Sendable (PointerReport) -> Void
    private let log: EventLog

    /// The source that is there, and what is known and wanted of it.
    struct Attachment {
        var source: (any PictureSource)?
        /// Whether a source is there; with `pause`, what viewers are told.
        var presence = SourceState.waiting
        /// What the gate says; `way` is locked where it changes.
        var pause: PauseReason?
        /// What was told last of the source's state.
        var announced = SourceState.waiting
        /// Whether some thread is telling it now; it looks again before it stops.
        var isAnnouncing = false
        var demand = SourceDemand()
        /// Whether some thread is telling the source now; it looks again before it stops.
        var isTelling = false
        /// What the source has said of its work.
        var statistics: CaptureStatistics?
        var statisticsArrival = MonotonicTime.zero
        /// Where the pointer was said to be last.
        var pointer: PointerReport?
        /// How the pointer is to get to who watches.
        var pointerMode = PointerMode.drawn

        var state: SourceState {
            if presence == .live, let pause { .paused(pause) } else { presence }
        }
    }

    /// The head of a track into `hub`, with a decode tap on a thread of its own.
    ///
    /// - Parameters:
    ///   - onStateChange: told when a source comes or goes, on its thread.
    ///   - onPointer: told what becomes of the pointer, on the source's thread or the tap's, with a lock held: must not block or
    ///     call back.
    /// - Throws: ``IngestError`` where the system has no thread or descriptor left.
    public init(
        hub: TrackHub, log: EventLog, onStateChange: @escaping @Sendable (SourceState) -> Void = { _ in },
        onPointer: @escaping @Sendable (PointerReport) -> Void = { _ in }
    ) throws(IngestError) {
        self.hub = hub
        self.log = log
        self.onStateChange = onStateChange
        self.onPointer = onPointer
        way = Mutex(TrackWay())
        attachment = Mutex(Attachment())
        tap = try DecodeTap(log: log)
        try tap.connect(
            onFailure: { [weak self] in self?.decodingFailed() },
            onPicture: { [weak self] unit, epoch, number in
                self?.carryOn(with: unit, epoch: epoch, number: number) ?? false
            })
        hub.connect(source: self)
    }

    deinit {
        tap.stop()
    }

    // MARK: The source's side

    /// Makes `source` the one whose pictures are taken. There is one at a time: false where another is still there.
    public func attach(_ source: any PictureSource) -> Bool {
        let isTaken = way.withLock { way in
            attachment.withLock { attachment in
                guard attachment.source == nil else { return false }
                attachment.source = source
                attachment.presence = .live
                attachment.statistics = nil
                attachment.demand.sourceCame()
                way.gate.sourceCame()
                attachment.pause = way.gate.pause
                if way.gate.isHeld { source.setHeld(true) }
                return true
            }
        }
        guard isTaken else { return false }
        hub.forgetChroma()
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        tellSource()
        let mode = attachment.withLock { $0.pointerMode }
        if source.tellsPointer { source.setPointerMode(mode) }
        onPointer(.ability(tellsPointer: source.tellsPointer))
        announceState()
        return true
    }

    /// `source` has said what it can do only after it was attached.
    public func abilitiesChanged(of source: any PictureSource) {
        let (isAttached, mode) = attachment.withLock { ($0.source === source, $0.pointerMode) }
        guard isAttached else { return }
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        tellSource()
        if source.tellsPointer { source.setPointerMode(mode) }
        onPointer(.ability(tellsPointer: source.tellsPointer))
    }

    /// Passes on what `source` says of the pointer, where that is the track's source.
    public func report(_ report: PointerReport, from source: any PictureSource) {
        let isPassed = attachment.withLock { attachment in
            guard attachment.source === source else { return false }
            guard case .position = report else { return true }
            attachment.pointer = report
            return attachment.pause == nil
        }
        if isPassed { onPointer(report) }
    }

    /// Says how the pointer is to get to who watches: told to the source where that can, and to the next one.
    public func setPointerMode(_ mode: PointerMode) {
        let source = attachment.withLock { attachment in
            attachment.pointerMode = mode
            return attachment.source
        }
        if let source, source.tellsPointer { source.setPointerMode(mode) }
    }

    /// `source` went away; its last picture stays on the track.
    public func detach(_ source: any PictureSource, reason: String) {
        let state = SourceState.gone(since: monotonicNow(), reason: reason)
        let wasAttached = attachment.withLock { attachment in
            guard attachment.source === source else { return false }
            attachment.source = nil
            attachment.presence = state
            attachment.pointer = nil
            attachment.statistics = nil
            return true
        }
        guard wasAttached else { return }
        tap.sourceChanged(canMakeIDR: false)
        onPointer(.lost)
        announceState()
    }

    /// Takes the next access unit of `source`, in order, on the source's thread; one of another source than the track's is left
    /// out.
    ///
    /// Waits while the tap is far behind a source that makes no IDRs: dropping a picture of such a stream would leave nothing
    /// to decode on from. Never waits for one that does.
    public func deliver(_ unit: AccessUnit, from source: any PictureSource, epoch: UInt64, arrival: MonotonicTime) {
        guard attachment.withLock({ $0.source === source }) else { return }
        tap.awaitRoom(for: unit)
        let isBlind = way.withLock { way in
            // The lock keeps another source from coming meanwhile.
            guard attachment.withLock({ $0.source === source }) else { return false }
            if way.takesFromSource(isIDR: unit.isIDR) {
                publish(unit, epoch: epoch, arrival: arrival, on: &way)
            }
            return !tap.take(DecodeTap.Delivery(unit: unit, epoch: epoch, arrival: arrival, number: way.delivered))
        }
        if isBlind { decodingFailed() }
        hub.passOnKeptRequest(now: arrival)
    }

    /// How far away the source is, where it is on another machine and that is known.
    public var sourceTiming: SourceTiming? { attachment.withLock { $0.source }?.timing }

    /// What the source does now.
    public var state: SourceState { attachment.withLock { $0.state } }

    // MARK: The readers' side

    public func keyFrameWanted() {
        guard way.withLock({ $0.gate.takesIDR }) else { return }
        let source = attachment.withLock { $0.source }
        if let source, source.canMakeIDR {
            source.requestIDR()
            // A source that hangs must not keep a viewer waiting for good.
            tap.makeIDR(at: monotonicNow() + .seconds(1))
        } else {
            tap.makeIDR(at: monotonicNow())
        }
    }

    public var chromaAbility: ChromaAbility {
        let source = attachment.withLock { $0.source }
        return source.map { $0.changesChroma ? .changing : .fixed } ?? .absent
    }

    public func wantedChromaChanged() { tellSource() }

    public func pictureWanted() {
        let source = attachment.withLock { $0.demand.toldRunning == true ? $0.source : nil }
        source?.requestPicture()
    }

    public func targetBitRateChanged(to rate: BitRate) {
        attachment.withLock { $0.demand.rate = rate }
        tellSource()
    }

    public func viewersChanged(to _: Int) {
        let isFirst = attachment.withLock { attachment in
            // Two threads may tell of two changes in the wrong order: what counts is how many there are now.
            let count = hub.viewers
            // Who records has kept the source awake.
            let wasAsleep = attachment.demand.viewers == 0 && !attachment.demand.isRecorded
            let isFirst = wasAsleep && count > 0 && attachment.source?.restsUnwatched == true
            attachment.demand.viewers = count
            return isFirst
        }
        tellSource()
        if isFirst {
            // What the screen showed while nobody watched is not what who comes now should see first.
            hub.forgetCache()
            hub.requestKeyFrame(now: monotonicNow())
        }
    }

    /// Says whether what the source sends is recorded: who records counts as a viewer, for whom the source doesn't pause.
    public func setRecorded(_ isRecorded: Bool) {
        attachment.withLock { $0.demand.isRecorded = isRecorded }
        tellSource()
    }

    /// Hands the last picture to `completion`, on the tap's thread; nil where none has come by `patience` from now, or
    /// the sharer has paused and no slate has come.
    ///
    /// A paused source is woken for it, and its first new picture taken; one that is running has shown its last already.
    public func snapshot(patience: Interval, completion: @escaping @Sendable (I420Picture?) -> Void) {
        let now = monotonicNow()
        guard way.withLock({ $0.gate.takesIDR }) else {
            completion(nil)
            return
        }
        attachment.withLock { $0.demand.snapshots += 1 }
        tellSource()
        let from = attachment.withLock { $0.source?.canMakeIDR == true ? $0.demand.runningSince : nil }
        tap.snapshot(from: from, until: now + patience) { [weak self] picture in
            // The sharer may have paused meanwhile, and this be what was on the screen before.
            let isShown = self?.way.withLock { $0.gate.isOpen } ?? false
            completion(isShown ? picture : nil)
            self?.attachment.withLock { $0.demand.snapshots -= 1 }
            self?.tellSource()
        }
    }

    /// Tells the source its chroma format, its rates, and to run or to pause, one thread at a time and outside the lock: the
    /// last word is always the right one.
    func tellSource() {
        let isOurs = attachment.withLock { attachment in
            defer { attachment.isTelling = true }
            return !attachment.isTelling
        }
        guard isOurs else { return }
        while let (word, source) = nextWord() { tell(word, to: source) }
    }

    /// What the source has to be told; nil, and nobody is telling any more, where it knows all.
    private func nextWord() -> (SourceDemand.Word, any PictureSource)? {
        attachment.withLock { attachment in
            guard let source = attachment.source,
                let word = attachment.demand.nextWord(
                    chroma: source.changesChroma ? hub.wantedChroma : nil, now: monotonicNow())
            else {
                attachment.isTelling = false
                return nil
            }
            return (word, source)
        }
    }

    private func tell(_ word: SourceDemand.Word, to source: any PictureSource) {
        switch word {
        case .chroma(let format):
            log.info(
                format == .yuv420
                    ? "the source is asked for 4:2:0: a viewer has no 4:4:4" : "the source is asked for 4:4:4 again")
            source.setChroma(format)
        case .bitRate(let rate): source.setTargetBitRate(rate)
        case .frameRate(let rate): source.setFrameRate(rate)
        case .running(let isRunning): source.setRunning(isRunning)
        }
    }

    // MARK: The tap's side

    private func decodingFailed() {
        hub.requestKeyFrame(now: monotonicNow())
    }

    /// The host's own encoder made a picture of what the source's unit `number` shows.
    ///
    /// - Returns: whether the host's encoder carries the track now.
    private func carryOn(with unit: AccessUnit, epoch: UInt64, number: UInt64) -> Bool {
        defer { hub.passOnKeptRequest(now: monotonicNow()) }
        return way.withLock { way in
            let wasCarried = way.isCarriedByHost
            guard way.takesFromHost(isIDR: unit.isIDR, number: number) else { return false }
            if !wasCarried { log.info("the source makes no IDR now: the host's own encoder carries on") }
            publish(unit, epoch: epoch, arrival: monotonicNow(), on: &way)
            return true
        }
    }

    private func publish(_ unit: AccessUnit, epoch: UInt64, arrival: MonotonicTime, on way: inout TrackWay) {
        hub.publish(unit, epoch: epoch, arrival: arrival)
        if way.publishes(isPointerDrawn: unit.isPointerDrawn) { onPointer(.pictures(areDrawn: unit.isPointerDrawn)) }
    }
}
