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

    let way: Mutex<Way>
    let demand: Mutex<Demand>
    private let tap: DecodeTap
    let onStateChange: @Sendable (SourceState) -> Void
    let onPointer: @Sendable (PointerReport) -> Void
    private let log: EventLog

    /// Who carries the track, and how far the source is. The lock also orders the two threads that may publish.
    struct Way {
        /// Whether the host's own encoder carries the track; else the source's own pictures do.
        var isCarriedByHost = false
        /// Counts the source's units.
        var delivered: UInt64 = 0
        /// The last of them that was an IDR.
        var lastIDR: UInt64 = 0
        /// What of it viewers may see.
        var gate = SharingGate()
        /// Whether the pointer is drawn in the last picture that was published; nil before the first.
        var isPointerDrawn: Bool?
    }

    struct Demand {
        var source: (any PictureSource)?
        /// Whether a source is there; with `pause`, what viewers are told.
        var presence = SourceState.waiting
        /// What the gate says; `way` is locked where it changes.
        var pause: PauseReason?
        /// What was told last of the source's state.
        var announced = SourceState.waiting
        /// Whether some thread is telling it now; it looks again before it stops.
        var isAnnouncing = false
        var viewers = 0
        var snapshots = 0
        /// Whether what the source sends is recorded.
        var isRecorded = false
        /// What the viewers' paths carry; nil until that is known.
        var rate: BitRate?
        /// What a person allows at most.
        var limits = SourceLimits()
        /// What the source was told last of both; nil where nothing yet.
        var toldRate: BitRate?
        var toldFrameRate: FrameRate?
        /// What the source has said of its work.
        var statistics: CaptureStatistics?
        var statisticsArrival = MonotonicTime.zero
        /// Where the pointer was said to be last.
        var pointer: PointerReport?
        /// How the pointer is to get to who watches.
        var pointerMode = PointerMode.drawn
        /// What the source was told last: to run or to pause; nil where nothing yet.
        var told: Bool?
        /// The chroma format that the source was told last, or that it began with.
        var toldChroma = ChromaFormat.yuv444
        /// Whether some thread is telling the source now; it looks again before it stops.
        var isTelling = false
        /// Since when the source runs; what came before shows the screen as it was when the source fell asleep.
        var runningSince: MonotonicTime?

        var isWanted: Bool { viewers > 0 || snapshots > 0 || isRecorded }

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
        way = Mutex(Way())
        demand = Mutex(Demand())
        tap = try DecodeTap(log: log)
        tap.connect(
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
            demand.withLock { demand in
                guard demand.source == nil else { return false }
                demand.source = source
                demand.presence = .live
                demand.told = nil
                demand.toldChroma = .yuv444
                demand.toldRate = nil
                demand.toldFrameRate = nil
                demand.statistics = nil
                demand.runningSince = nil
                way.gate.sourceCame()
                demand.pause = way.gate.pause
                if way.gate.isHeld { source.setHeld(true) }
                return true
            }
        }
        guard isTaken else { return false }
        hub.forgetChroma()
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        tellSource()
        let mode = demand.withLock { $0.pointerMode }
        if source.tellsPointer { source.setPointerMode(mode) }
        onPointer(.ability(tellsPointer: source.tellsPointer))
        announceState()
        return true
    }

    /// `source` has said what it can do only after it was attached.
    public func abilitiesChanged(of source: any PictureSource) {
        let (isAttached, mode) = demand.withLock { ($0.source === source, $0.pointerMode) }
        guard isAttached else { return }
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        tellSource()
        if source.tellsPointer { source.setPointerMode(mode) }
        onPointer(.ability(tellsPointer: source.tellsPointer))
    }

    /// Passes on what `source` says of the pointer, where that is the track's source.
    public func report(_ report: PointerReport, from source: any PictureSource) {
        let isPassed = demand.withLock { demand in
            guard demand.source === source else { return false }
            guard case .position = report else { return true }
            demand.pointer = report
            return demand.pause == nil
        }
        if isPassed { onPointer(report) }
    }

    /// Says how the pointer is to get to who watches: told to the source where that can, and to the next one.
    public func setPointerMode(_ mode: PointerMode) {
        let source = demand.withLock { demand in
            demand.pointerMode = mode
            return demand.source
        }
        if let source, source.tellsPointer { source.setPointerMode(mode) }
    }

    /// `source` went away; its last picture stays on the track.
    public func detach(_ source: any PictureSource, reason: String) {
        let state = SourceState.gone(since: monotonicNow(), reason: reason)
        let wasAttached = demand.withLock { demand in
            guard demand.source === source else { return false }
            demand.source = nil
            demand.presence = state
            demand.pointer = nil
            demand.statistics = nil
            return true
        }
        guard wasAttached else { return }
        tap.sourceChanged(canMakeIDR: false)
        onPointer(.lost)
        announceState()
    }

    /// Takes the source's next access unit, in order, on the source's thread.
    ///
    /// Waits while the tap is far behind a source that makes no IDRs: dropping a picture of such a stream would leave nothing
    /// to decode on from. Never waits for one that does.
    public func deliver(_ unit: AccessUnit, epoch: UInt64, arrival: MonotonicTime) {
        tap.awaitRoom(for: unit)
        let isBlind = way.withLock { way in
            way.delivered += 1
            if unit.isIDR {
                way.isCarriedByHost = false
                way.lastIDR = way.delivered
            }
            if !way.isCarriedByHost, way.gate.passes(isIDR: unit.isIDR, fromSource: true) {
                publish(unit, epoch: epoch, arrival: arrival, on: &way)
            }
            return !tap.take(DecodeTap.Delivery(unit: unit, epoch: epoch, arrival: arrival, number: way.delivered))
        }
        if isBlind { decodingFailed() }
        hub.passOnKeptRequest(now: arrival)
    }

    /// How far away the source is, where it is on another machine and that is known.
    public var sourceTiming: SourceTiming? { demand.withLock { $0.source }?.timing }

    /// What the source does now.
    public var state: SourceState { demand.withLock { $0.state } }

    // MARK: The readers' side

    public func keyFrameWanted() {
        guard way.withLock({ $0.gate.takesIDR }) else { return }
        let source = demand.withLock { $0.source }
        if let source, source.canMakeIDR {
            source.requestIDR()
            // A source that hangs must not keep a viewer waiting for good.
            tap.makeIDR(at: monotonicNow() + .seconds(1))
        } else {
            tap.makeIDR(at: monotonicNow())
        }
    }

    public var chromaAbility: ChromaAbility {
        let source = demand.withLock { $0.source }
        return source.map { $0.changesChroma ? .changing : .fixed } ?? .absent
    }

    public func wantedChromaChanged() { tellSource() }

    public func pictureWanted() {
        let source = demand.withLock { $0.told == true ? $0.source : nil }
        source?.requestPicture()
    }

    public func targetBitRateChanged(to rate: BitRate) {
        demand.withLock { $0.rate = rate }
        tellSource()
    }

    public func viewersChanged(to _: Int) {
        let isFirst = demand.withLock { demand in
            // Two threads may tell of two changes in the wrong order: what counts is how many there are now.
            let count = hub.viewers
            // Who records has kept the source awake.
            let wasAsleep = demand.viewers == 0 && !demand.isRecorded
            let isFirst = wasAsleep && count > 0 && demand.source?.restsUnwatched == true
            demand.viewers = count
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
        demand.withLock { $0.isRecorded = isRecorded }
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
        demand.withLock { $0.snapshots += 1 }
        tellSource()
        let from = demand.withLock { $0.source?.canMakeIDR == true ? $0.runningSince : nil }
        tap.snapshot(from: from, until: now + patience) { [weak self] picture in
            // The sharer may have paused meanwhile, and this be what was on the screen before.
            let isShown = self?.way.withLock { $0.gate.isOpen } ?? false
            completion(isShown ? picture : nil)
            self?.demand.withLock { $0.snapshots -= 1 }
            self?.tellSource()
        }
    }

    /// Tells the source its chroma format, its rates, and to run or to pause, one thread at a time and outside the lock: the last word is always the right one.
    func tellSource() {
        let isOurs = demand.withLock { demand in
            defer { demand.isTelling = true }
            return !demand.isTelling
        }
        guard isOurs else { return }
        while let word = nextWord() { word() }
    }

    /// What the source has to be told; nil, and nobody is telling any more, where it knows all.
    private func nextWord() -> (() -> Void)? {
        demand.withLock { demand -> (@Sendable () -> Void)? in
            guard let source = demand.source else {
                demand.isTelling = false
                return nil
            }
            // First: a source that is woken shall begin in the right format.
            let chroma = hub.wantedChroma
            if source.changesChroma, demand.toldChroma != chroma {
                demand.toldChroma = chroma
                return { [log] in
                    log.info(
                        chroma == .yuv420
                            ? "the source is asked for 4:2:0: a viewer has no 4:4:4"
                            : "the source is asked for 4:4:4 again")
                    source.setChroma(chroma)
                }
            }
            // A source that comes back finds the paths and the limits as they are.
            if let rate = demand.wantedRate, demand.toldRate != rate {
                demand.toldRate = rate
                return { source.setTargetBitRate(rate) }
            }
            if let rate = demand.wantedFrameRate, demand.toldFrameRate != rate {
                demand.toldFrameRate = rate
                return { source.setFrameRate(rate) }
            }
            guard demand.told != demand.isWanted else {
                demand.isTelling = false
                return nil
            }
            let isWanted = demand.isWanted
            demand.told = isWanted
            if isWanted { demand.runningSince = monotonicNow() }
            return { source.setRunning(isWanted) }
        }
    }

    // MARK: The tap's side

    private func decodingFailed() {
        hub.requestKeyFrame(now: monotonicNow())
    }

    /// The host's own encoder made a picture of what the source's unit `number` shows: an IDR takes the track over, what
    /// follows needs that IDR.
    ///
    /// - Returns: whether the host's encoder carries the track now. Not where the source has sent an IDR after that unit.
    private func carryOn(with unit: AccessUnit, epoch: UInt64, number: UInt64) -> Bool {
        defer { hub.passOnKeptRequest(now: monotonicNow()) }
        return way.withLock { way in
            guard way.lastIDR <= number, way.isCarriedByHost || unit.isIDR,
                way.gate.passes(isIDR: unit.isIDR, fromSource: false)
            else { return false }
            if !way.isCarriedByHost { log.info("the source makes no IDR now: the host's own encoder carries on") }
            way.isCarriedByHost = true
            publish(unit, epoch: epoch, arrival: monotonicNow(), on: &way)
            return true
        }
    }

    private func publish(_ unit: AccessUnit, epoch: UInt64, arrival: MonotonicTime, on way: inout Way) {
        hub.publish(unit, epoch: epoch, arrival: arrival)
        guard way.isPointerDrawn != unit.isPointerDrawn else { return }
        way.isPointerDrawn = unit.isPointerDrawn
        onPointer(.pictures(areDrawn: unit.isPointerDrawn))
    }
}

/// Why a track could not begin.
public enum IngestError: Error, Sendable, CustomStringConvertible {
    /// The system refused a thread or a descriptor.
    case system(String)
    /// The link could not be opened.
    case link(String)

    public var description: String {
        switch self {
        case .system(let what): what
        case .link(let what): what
        }
    }
}
