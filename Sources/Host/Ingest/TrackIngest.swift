public import CaptureLink
import Clocks
public import MediaTypes
import Synchronization
public import Threading
public import TrackHub

/// The start of a track: takes access units from its source, passes them unchanged to the hub, and to the decode tap as
/// well.
///
/// While viewers can't join the source's stream, because it makes no IDR, the tap's own encoder carries the track on,
/// until the source's next IDR. All methods may be called on any thread.
public final class TrackIngest: TrackSource {
    /// The hub that the track's readers subscribe to.
    public let hub: TrackHub

    let way: Mutex<TrackWay>
    let attachment: Mutex<Attachment>
    private let tap: DecodeTap
    let onStateChange: @Sendable (SourceState) -> Void
    let onPointer: @Sendable (PointerReport) -> Void
    private let log: EventLog

    /// The current source, and what is known and wanted of it.
    struct Attachment {
        var source: (any PictureSource)?
        /// Whether a source is there; together with `pause`, this is what viewers are told.
        var presence = SourceState.waiting
        /// The pause that the gate reports; changes only while `way` is locked.
        var pause: PauseReason?
        /// The source's state that was last reported.
        var announced = SourceState.waiting
        /// Whether some thread is reporting it now; that thread looks again before it stops.
        var isAnnouncing = false
        var demand = SourceDemand()
        /// Whether some thread is telling the source now; that thread looks again before it stops.
        var isTelling = false
        /// The statistics that the source sent last.
        var statistics: CaptureStatistics?
        var statisticsArrival = MonotonicTime.zero
        /// The pointer's last reported position.
        var pointer: PointerReport?
        /// How the pointer gets to viewers.
        var pointerMode = PointerMode.drawn

        var state: SourceState {
            if presence == .live, let pause { .paused(pause) } else { presence }
        }
    }

    /// Creates the start of a track that feeds `hub`, with a decode tap on a thread of its own.
    ///
    /// - Parameters:
    ///   - onStateChange: called with the source's new state, on any thread, but on one at a time.
    ///   - onPointer: called with each report about the pointer, on the source's thread or the tap's, with a lock held;
    ///     must not block or call back.
    /// - Throws: ``IngestError`` if the system has no thread or descriptor left.
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

    // MARK: For the source

    /// Makes `source` the one whose pictures are taken. There is one at a time: returns false if another is still
    /// there.
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
                if way.gate.isHeld { source.setSharerPaused(true) }
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

    /// Called when `source` says what it can do only after it was attached.
    public func abilitiesChanged(of source: any PictureSource) {
        let (isAttached, mode) = attachment.withLock { ($0.source === source, $0.pointerMode) }
        guard isAttached else { return }
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        tellSource()
        if source.tellsPointer { source.setPointerMode(mode) }
        onPointer(.ability(tellsPointer: source.tellsPointer))
    }

    /// Passes on what `source` reports about the pointer, if it is the track's source.
    public func report(_ report: PointerReport, from source: any PictureSource) {
        let isPassed = attachment.withLock { attachment in
            guard attachment.source === source else { return false }
            guard case .position = report else { return true }
            attachment.pointer = report
            return attachment.pause == nil
        }
        if isPassed { onPointer(report) }
    }

    /// Sets how the pointer gets to viewers. The current source is told if it reports the pointer, and so is the next
    /// one.
    public func setPointerMode(_ mode: PointerMode) {
        let source = attachment.withLock { attachment in
            attachment.pointerMode = mode
            return attachment.source
        }
        if let source, source.tellsPointer { source.setPointerMode(mode) }
    }

    /// Detaches `source`, which went away; its last picture stays on the track.
    public func detach(_ source: any PictureSource, reason: String) {
        let state = SourceState.gone(since: MonotonicTime.now(), reason: reason)
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

    /// Takes the next access unit of `source`, in order, on the source's thread. A unit of another source than the
    /// track's is left out.
    ///
    /// Waits while the tap is far behind a source that makes no IDRs: if a picture of such a stream were dropped,
    /// nothing after it could be decoded. Never waits for a source that makes IDRs.
    public func deliver(_ unit: AccessUnit, from source: any PictureSource, epoch: UInt64, arrival: MonotonicTime) {
        guard attachment.withLock({ $0.source === source }) else { return }
        tap.awaitRoom(for: unit)
        let isBlind = way.withLock { way in
            // The lock keeps another source from being attached meanwhile.
            guard attachment.withLock({ $0.source === source }) else { return false }
            if way.takesFromSource(isIDR: unit.isIDR) {
                publish(unit, epoch: epoch, arrival: arrival, on: &way)
            }
            return !tap.take(DecodeTap.Delivery(unit: unit, epoch: epoch, arrival: arrival, number: way.delivered))
        }
        if isBlind { decodingFailed() }
        hub.passOnKeptRequest(now: arrival)
    }

    /// The source's round trip and clock offset, if it is on another machine and they are known.
    public var sourceTiming: SourceTiming? { attachment.withLock { $0.source }?.timing }

    /// The source's state now.
    public var state: SourceState { attachment.withLock { $0.state } }

    // MARK: For the readers

    public func keyFrameWanted() {
        guard way.withLock({ $0.gate.takesIDR }) else { return }
        let source = attachment.withLock { $0.source }
        if let source, source.canMakeIDR {
            source.requestIDR()
            // If the source hangs, the host's encoder makes the IDR, so that a viewer doesn't wait forever.
            tap.makeIDR(at: MonotonicTime.now() + .seconds(1))
        } else {
            tap.makeIDR(at: MonotonicTime.now())
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
            // Two threads may report two changes in the wrong order, so ask the hub how many viewers there are now.
            let count = hub.viewers
            // A recording has kept the source awake, too.
            let wasAsleep = attachment.demand.viewers == 0 && !attachment.demand.isRecorded
            let isFirst = wasAsleep && count > 0 && attachment.source?.restsUnwatched == true
            attachment.demand.viewers = count
            return isFirst
        }
        tellSource()
        if isFirst {
            // What the screen showed while nobody watched must not be the first thing that a new viewer sees.
            hub.forgetCache()
            hub.requestKeyFrame(now: MonotonicTime.now())
        }
    }

    /// Sets whether what the source sends is recorded. A recording counts as a viewer, so the source doesn't pause.
    public func setRecorded(_ isRecorded: Bool) {
        attachment.withLock { $0.demand.isRecorded = isRecorded }
        tellSource()
    }

    /// Passes the last picture to `completion`, on the tap's thread; nil if none has arrived within `patience`, or if
    /// the sharer has paused and no slate has come.
    ///
    /// A paused source is woken, and its first new picture is taken. The last picture of a running source is already up
    /// to date.
    public func snapshot(patience: Interval, completion: @escaping @Sendable (I420Picture?) -> Void) {
        let now = MonotonicTime.now()
        guard way.withLock({ $0.gate.takesIDR }) else {
            completion(nil)
            return
        }
        attachment.withLock { $0.demand.snapshots += 1 }
        tellSource()
        let from = attachment.withLock { $0.source?.canMakeIDR == true ? $0.demand.runningSince : nil }
        tap.snapshot(from: from, until: now + patience) { [weak self] picture in
            // The sharer may have paused meanwhile; if so, this picture shows the screen as it was before.
            let isShown = self?.way.withLock { $0.gate.isOpen } ?? false
            completion(isShown ? picture : nil)
            self?.attachment.withLock { $0.demand.snapshots -= 1 }
            self?.tellSource()
        }
    }

    /// Tells the source its chroma format, its rates and whether to run, on one thread at a time and outside the lock,
    /// so that what it is told last is always right.
    func tellSource() {
        let isOurs = attachment.withLock { attachment in
            defer { attachment.isTelling = true }
            return !attachment.isTelling
        }
        guard isOurs else { return }
        while let (word, source) = nextWord() { tell(word, to: source) }
    }

    /// Returns what to tell the source next; if the source is up to date, returns nil and clears `isTelling`.
    private func nextWord() -> (SourceDemand.Word, any PictureSource)? {
        attachment.withLock { attachment in
            guard let source = attachment.source,
                let word = attachment.demand.nextWord(
                    chroma: source.changesChroma ? hub.wantedChroma : nil, now: MonotonicTime.now())
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
        case .running(let isRunning): source.setWatched(isRunning)
        }
    }

    // MARK: For the tap

    private func decodingFailed() {
        hub.requestKeyFrame(now: MonotonicTime.now())
    }

    /// Publishes a picture that the host's own encoder made of what the source's unit `number` shows.
    ///
    /// - Returns: whether the host's encoder carries the track now.
    private func carryOn(with unit: AccessUnit, epoch: UInt64, number: UInt64) -> Bool {
        defer { hub.passOnKeptRequest(now: MonotonicTime.now()) }
        return way.withLock { way in
            let wasCarried = way.isCarriedByHost
            guard way.takesFromHost(isIDR: unit.isIDR, number: number) else { return false }
            if !wasCarried { log.info("the source makes no IDR now: the host's own encoder carries on") }
            publish(unit, epoch: epoch, arrival: MonotonicTime.now(), on: &way)
            return true
        }
    }

    private func publish(_ unit: AccessUnit, epoch: UInt64, arrival: MonotonicTime, on way: inout TrackWay) {
        hub.publish(unit, epoch: epoch, arrival: arrival)
        if way.publishes(isPointerDrawn: unit.isPointerDrawn) { onPointer(.pictures(areDrawn: unit.isPointerDrawn)) }
    }
}
