import H264
public import MediaTypes
import Synchronization

/// Distributes a track's pictures to its readers.
///
/// One thread publishes. Each reader has a bounded queue of its own, so that a slow reader affects only itself. All
/// methods may be called on any thread; the lock is held for a few appends, and never while a reader's `wake` or the
/// source runs.
public final class TrackHub: Sendable {
    let state: Mutex<State>
    /// Stored with `state` locked; read without the lock, before anything is sent.
    private let shownFrom = Atomic<UInt64>(0)
    private let limits: CacheLimits

    struct State {
        var timeline: Timeline
        var nextNumber: UInt64 = 0
        var cache: UnitCache<TrackUnit>
        var policy = KeyFramePolicy()
        var readers: [UInt64: Reader] = [:]
        var nextReader: UInt64 = 0
        var viewers = 0
        var chromaPolicy = ChromaPolicy()
        /// The format of the last unit; nil if the source has sent none.
        var chroma: ChromaFormat?
        weak var source: (any TrackSource)?
    }

    struct Reader {
        var queue: ReaderQueue
        let wake: @Sendable () -> Void
    }

    /// Creates a hub whose track begins at `origin`, the time of this machine's clock now.
    public init(origin: MonotonicTime, limits: CacheLimits = CacheLimits()) {
        self.limits = limits
        state = Mutex(State(timeline: Timeline(origin: origin), cache: UnitCache(limits: limits)))
    }

    /// Sets the source, which is asked for IDRs and told about demand; it is told at once how many viewers there are.
    /// The hub doesn't retain it.
    public func connect(source: any TrackSource) {
        let viewers = state.withLock { state in
            state.source = source
            return state.viewers
        }
        source.viewersChanged(to: viewers)
    }

    /// Puts the next picture on the track and wakes its readers.
    ///
    /// The source is not called from here, so that a publisher may hold a lock of its own; the publisher calls
    /// ``passOnKeptRequest(now:)`` after releasing it.
    ///
    /// - Parameters:
    ///   - unit: the access unit; an IDR must begin with SPS and PPS.
    ///   - epoch: changes when the source's clock may have changed.
    ///   - arrival: now.
    @discardableResult
    public func publish(_ unit: AccessUnit, epoch: UInt64, arrival: MonotonicTime) -> TrackUnit {
        var wakes: [@Sendable () -> Void] = []
        let format = unit.isIDR ? unit.profileLevelID.map { ChromaFormat(of: $0) } : nil
        let published = state.withLock { state in
            let (time, captureTime) = state.timeline.place(
                captureTime: unit.captureTime, epoch: epoch, arrival: arrival)
            let placed = AccessUnit(
                bytes: unit.bytes, nalUnits: unit.nalUnits, isIDR: unit.isIDR, captureTime: captureTime,
                isPointerDrawn: unit.isPointerDrawn)
            let chroma = format ?? state.chroma ?? .yuv420
            state.chroma = chroma
            let published = TrackUnit(number: state.nextNumber, unit: placed, time: time, chroma: chroma)
            state.nextNumber += 1
            state.cache.append(published, byteCount: unit.bytes.count, isIDR: unit.isIDR)
            if unit.isIDR { state.policy.idrArrived() }
            for key in state.readers.keys where state.readers[key]?.queue.append(published) == true {
                if let wake = state.readers[key]?.wake { wakes.append(wake) }
            }
            return published
        }
        for wake in wakes { wake() }
        return published
    }

    /// Adds a reader; its first ``TrackReader/take()`` gives the units since the last IDR.
    ///
    /// - Parameters:
    ///   - limits: how much may wait for this reader before it loses units.
    ///   - wake: called on the publishing thread when there is something to take; it must not block.
    public func subscribe(limits: CacheLimits? = nil, wake: @escaping @Sendable () -> Void) -> TrackReader {
        let limits = limits ?? CacheLimits(bytes: self.limits.bytes * 2, units: self.limits.units * 2)
        let key = state.withLock { state in
            let key = state.nextReader
            state.nextReader += 1
            state.readers[key] = Reader(queue: ReaderQueue(startingWith: state.cache.units, limits: limits), wake: wake)
            return key
        }
        return TrackReader(hub: self, key: key)
    }

    /// Asks the source for an IDR, at most once in 500 ms, however many ask.
    public func requestKeyFrame(now: MonotonicTime) {
        let source = state.withLock { state in state.policy.want(now: now) ? state.source : nil }
        source?.keyFrameWanted()
    }

    /// Asks the source for an IDR for a reader that has none to begin with, unless the cache has one. That one is on
    /// its way to the reader, and a request that is kept any longer would only bring a second one.
    public func requestStart(now: MonotonicTime) {
        let source = state.withLock { state in
            !state.cache.canStart && state.policy.want(now: now) ? state.source : nil
        }
        source?.keyFrameWanted()
    }

    /// Passes on a request for an IDR that came too soon after the one before; call this after publishing.
    public func passOnKeptRequest(now: MonotonicTime) {
        let source = state.withLock { state in state.policy.isDue(now: now) ? state.source : nil }
        source?.keyFrameWanted()
    }

    /// Asks the source for one more picture, even of a screen that stands still; it need not be an IDR.
    public func requestPicture() {
        let source = state.withLock { $0.source }
        source?.pictureWanted()
    }

    /// Whether a reader that joins now can begin without a new IDR.
    public var canStart: Bool { state.withLock { $0.cache.canStart } }

    /// The units since the last IDR.
    public var cachedUnits: [TrackUnit] { state.withLock { $0.cache.units } }

    /// Drops the cached units: a viewer who joins from now on waits for an IDR, and one who has not yet received all of
    /// them receives no more (see ``firstStart``).
    ///
    /// This is for a source that has paused: its next picture has little to do with its last, and is an IDR.
    public func forgetCache() {
        state.withLock { state in
            state.cache.clear()
            shownFrom.store(state.nextNumber, ordering: .releasing)
        }
    }

    /// The lowest number of a unit that may still be shown to anybody; for readers that keep units themselves.
    public var firstStart: UInt64 { shownFrom.load(ordering: .acquiring) }

    /// How many viewers there are.
    public var viewers: Int { state.withLock { $0.viewers } }

    /// How many units have been published so far.
    public var publishedUnits: UInt64 { state.withLock { $0.nextNumber } }

    /// The media time of `moment`, for sender reports.
    public func mediaTime(at moment: MonotonicTime) -> MediaTime {
        state.withLock { $0.timeline.mediaTime(at: moment) }
    }

    /// Adds `change` viewers (-1 removes one) that decode any format, and tells the source.
    public func changeViewers(by change: Int) {
        let (viewers, source) = state.withLock { state in
            state.viewers = max(0, state.viewers + change)
            return (state.viewers, state.source)
        }
        source?.viewersChanged(to: viewers)
    }

    /// Tells the source what bit rate the viewers' network paths can carry.
    public func changeTargetBitRate(to rate: BitRate) {
        let source = state.withLock { $0.source }
        source?.targetBitRateChanged(to: rate)
    }

    fileprivate func take(_ key: UInt64) -> [TrackUnit] {
        state.withLock { state in
            let cache = state.cache.units
            state.readers[key]?.queue.recover(with: cache)
            return state.readers[key]?.queue.take() ?? []
        }
    }

    fileprivate func lostUnits(_ key: UInt64) -> UInt64 {
        state.withLock { $0.readers[key]?.queue.lostUnits ?? 0 }
    }

    fileprivate func remove(_ key: UInt64) {
        state.withLock { state in state.readers[key] = nil }
    }
}

/// The source of a track, as the hub calls it. Called on any thread; must not block.
public protocol TrackSource: AnyObject, Sendable {
    /// Called when an IDR is wanted, at most once in 500 ms.
    func keyFrameWanted()
    /// Called when one more picture is wanted, even of a screen that stands still; it need not be an IDR.
    func pictureWanted()
    /// Called with the new number of viewers; with 0 the source may pause.
    func viewersChanged(to count: Int)
    /// Called with the bit rate that the viewers' network paths can carry, which the source is to stay under.
    func targetBitRateChanged(to rate: BitRate)
    /// The chroma formats that it can send.
    var chromaAbility: ChromaAbility { get }
    /// Called when ``TrackHub/wantedChroma`` has changed although no viewer came or left.
    func wantedChromaChanged()
}

/// Defaults for a source that has only one format.
extension TrackSource {
    public var chromaAbility: ChromaAbility { .fixed }
    public func wantedChromaChanged() {
        // There is no other format to change to.
    }
}

/// One reader of a hub; it is unsubscribed when it is released.
public final class TrackReader: Sendable {
    private let hub: TrackHub
    private let key: UInt64

    fileprivate init(hub: TrackHub, key: UInt64) {
        self.hub = hub
        self.key = key
    }

    deinit {
        hub.remove(key)
    }

    /// Returns all units that have arrived since the last call, oldest first. A gap in their numbers means that units
    /// were lost; the first unit after a gap is an IDR. Any thread.
    public func take() -> [TrackUnit] { hub.take(key) }

    /// How many units this reader has lost so far because it was too slow.
    public var lostUnits: UInt64 { hub.lostUnits(key) }
}
