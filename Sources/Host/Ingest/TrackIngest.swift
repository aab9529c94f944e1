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

    private let carrier: Mutex<Carrier>
    private let demand: Mutex<Demand>
    private let tap: DecodeTap
    private let onStateChange: @Sendable (SourceState) -> Void
    private let log: EventLog

    /// Whose pictures are on the track. The lock also orders the two threads that may publish.
    private enum Carrier {
        case source
        case hostEncoder
    }

    private struct Demand {
        var source: (any PictureSource)?
        var state = SourceState.waiting
        var viewers = 0
        var snapshots = 0
        var isRunning = false
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
        carrier = Mutex(.source)
        demand = Mutex(Demand())
        tap = try DecodeTap(log: log)
        tap.connect(
            onFailure: { [weak self] in self?.decodingFailed() },
            onPicture: { [weak self] unit, epoch in self?.carryOn(with: unit, epoch: epoch) })
        hub.connect(source: self)
    }

    deinit {
        tap.stop()
    }

    // MARK: The source's side

    /// Makes `source` the one whose pictures are taken. There is one at a time: false where another is still there.
    public func attach(_ source: any PictureSource) -> Bool {
        let (isTaken, isWanted) = demand.withLock { demand in
            guard demand.source == nil else { return (false, false) }
            demand.source = source
            demand.state = .live
            demand.isRunning = demand.isWanted
            demand.runningSince = nil
            return (true, demand.isWanted)
        }
        guard isTaken else { return false }
        tap.sourceChanged(canMakeIDR: source.canMakeIDR)
        source.setRunning(isWanted)
        onStateChange(.live)
        return true
    }

    /// `source` has said what it can do only after it was attached.
    public func abilitiesChanged(of source: any PictureSource) {
        let isAttached = demand.withLock { $0.source === source }
        if isAttached { tap.sourceChanged(canMakeIDR: source.canMakeIDR) }
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
    public func deliver(_ unit: AccessUnit, epoch: UInt64, arrival: MonotonicTime) {
        carrier.withLock { carrier in
            if unit.isIDR { carrier = .source }
            if carrier == .source { hub.publish(unit, epoch: epoch, arrival: arrival) }
        }
        tap.take(unit, epoch: epoch, isCarried: carrier.withLock { $0 == .hostEncoder })
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

    public func targetBitRateChanged(to rate: BitRate) {
        demand.withLock { $0.source }?.setTargetBitRate(rate)
    }

    public func viewersChanged(to count: Int) {
        changeDemand { $0.viewers = count }
    }

    /// Hands the last picture to `completion`, on the tap's thread; nil where none has come by `patience` from now.
    ///
    /// A paused source is woken for it, and its first new picture taken; one that is running has shown its last already.
    public func snapshot(patience: Interval, completion: @escaping @Sendable (I420Picture?) -> Void) {
        let now = monotonicNow()
        changeDemand { $0.snapshots += 1 }
        let from = demand.withLock { $0.source?.canMakeIDR == true ? $0.runningSince : nil }
        tap.snapshot(from: from, until: now + patience) { [weak self] picture in
            completion(picture)
            self?.changeDemand { $0.snapshots -= 1 }
        }
    }

    private func changeDemand(_ change: (inout Demand) -> Void) {
        let (source, isWanted, hasChanged) = demand.withLock { demand in
            change(&demand)
            let isWanted = demand.isWanted
            let hasChanged = isWanted != demand.isRunning
            demand.isRunning = isWanted
            if hasChanged, isWanted { demand.runningSince = monotonicNow() }
            return (demand.source, isWanted, hasChanged)
        }
        guard hasChanged, let source else { return }
        source.setRunning(isWanted)
        guard source.canMakeIDR else { return }
        if !isWanted {
            // What the screen showed before a pause is not what who joins later should see first.
            hub.forgetCache()
        }
    }

    // MARK: The tap's side

    private func decodingFailed() {
        hub.requestKeyFrame(now: monotonicNow())
    }

    /// The host's own encoder made a picture: an IDR takes the track over, what follows it needs that IDR.
    private func carryOn(with unit: AccessUnit, epoch: UInt64) {
        carrier.withLock { carrier in
            if unit.isIDR {
                if carrier == .source { log.info("the source makes no IDR now: the host's own encoder carries on") }
                carrier = .hostEncoder
            }
            if carrier == .hostEncoder { hub.publish(unit, epoch: epoch, arrival: monotonicNow()) }
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
