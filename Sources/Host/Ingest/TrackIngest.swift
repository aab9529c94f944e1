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

    private let way: Mutex<Way>
    private let demand: Mutex<Demand>
    private let tap: DecodeTap
    private let onStateChange: @Sendable (SourceState) -> Void
    private let log: EventLog

    /// Who carries the track, and how far the source is. The lock also orders the two threads that may publish.
    private struct Way {
        /// Whether the host's own encoder carries the track; else the source's own pictures do.
        var isCarriedByHost = false
        /// Counts the source's units.
        var delivered: UInt64 = 0
        /// The last of them that was an IDR.
        var lastIDR: UInt64 = 0
    }

    private struct Demand {
        var source: (any PictureSource)?
        var state = SourceState.waiting
        var viewers = 0
        var snapshots = 0
        /// What the viewers' paths carry; nil until that is known.
        var rate: BitRate?
        /// What the source was told last: to run or to pause; nil where nothing yet.
        var told: Bool?
        /// The chroma format that the source was told last, or that it began with.
        var toldChroma = ChromaFormat.yuv444
        /// Whether some thread is telling the source now; it looks again before it stops.
        var isTelling = false
        /// Since when the source runs; what came before shows the screen as it was when the source fell asleep.
        var runningSince: MonotonicTime?

        var isWanted: Bool { viewers > 0 || snapshots > 0 }
    }

    /// The head of a track into `hub`, with a decode tap on a thread of its own.
    ///
    /// - Throws: ``IngestError`` where the system has no thread or descriptor left.
    public init(
        hub: TrackHub, log: EventLog, onStateChange: @escaping @Sendable (SourceState) -> Void = { _ in }
    ) throws(IngestError) {
        self.hub = hub
        self.log = log
        self.onStateChange = onStateChange
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
        let isTaken = demand.withLock { demand in
            guard demand.source == nil else { return false }
            demand.source = source
            demand.state = .live
            demand.told = nil
            demand.toldChroma = .yuv444
            demand.runningSince = nil
            return true
        }
        guard isTaken else { return false }
        hub.forgetChroma()
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        tellSource()
        // A source that comes back finds the paths as they are.
        if let rate = demand.withLock({ $0.rate }) { source.setTargetBitRate(rate) }
        onStateChange(.live)
        return true
    }

    /// `source` has said what it can do only after it was attached.
    public func abilitiesChanged(of source: any PictureSource) {
        let isAttached = demand.withLock { $0.source === source }
        guard isAttached else { return }
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        tellSource()
    }

    /// `source` went away; its last picture stays on the track.
    public func detach(_ source: any PictureSource, reason: String) {
        let state = SourceState.gone(since: monotonicNow(), reason: reason)
        let wasAttached = demand.withLock { demand in
            guard demand.source === source else { return false }
            demand.source = nil
            demand.state = state
            return true
        }
        guard wasAttached else { return }
        tap.sourceChanged(canMakeIDR: false)
        onStateChange(state)
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
            if !way.isCarriedByHost { hub.publish(unit, epoch: epoch, arrival: arrival) }
            return !tap.take(DecodeTap.Delivery(unit: unit, epoch: epoch, arrival: arrival, number: way.delivered))
        }
        if isBlind { decodingFailed() }
        hub.passOnKeptRequest(now: arrival)
    }

    /// What the source does now.
    public var state: SourceState { demand.withLock { $0.state } }

    // MARK: The readers' side

    public func keyFrameWanted() {
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
        let source = demand.withLock { demand in
            demand.rate = rate
            return demand.source
        }
        source?.setTargetBitRate(rate)
    }

    public func viewersChanged(to _: Int) {
        let isFirst = demand.withLock { demand in
            // Two threads may tell of two changes in the wrong order: what counts is how many there are now.
            let count = hub.viewers
            let isFirst = demand.viewers == 0 && count > 0 && demand.source?.canMakeIDR == true
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

    /// Hands the last picture to `completion`, on the tap's thread; nil where none has come by `patience` from now.
    ///
    /// A paused source is woken for it, and its first new picture taken; one that is running has shown its last already.
    public func snapshot(patience: Interval, completion: @escaping @Sendable (I420Picture?) -> Void) {
        let now = monotonicNow()
        demand.withLock { $0.snapshots += 1 }
        tellSource()
        let from = demand.withLock { $0.source?.canMakeIDR == true ? $0.runningSince : nil }
        tap.snapshot(from: from, until: now + patience) { [weak self] picture in
            completion(picture)
            self?.demand.withLock { $0.snapshots -= 1 }
            self?.tellSource()
        }
    }

    /// Tells the source its chroma format, and to run or to pause, one thread at a time and outside the lock: the last word is always the right one.
    private func tellSource() {
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
            guard way.lastIDR <= number, way.isCarriedByHost || unit.isIDR else { return false }
            if !way.isCarriedByHost { log.info("the source makes no IDR now: the host's own encoder carries on") }
            way.isCarriedByHost = true
            hub.publish(unit, epoch: epoch, arrival: monotonicNow())
            return true
        }
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
