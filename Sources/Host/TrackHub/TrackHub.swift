public import CaptureLink
import LockOrder
public import MediaTypes
import Synchronization

/// A track that is shared by the threads that write, read and control it.
///
/// The hub protects the ``Track``, which decides about it, with one lock. It hands the track's frames to the readers,
/// and carries out its actions in order, on one thread at a time and without the lock, so that the source and the
/// viewers always end up with the latest state. Each reader has a bounded queue of its own, so that a slow reader
/// affects only itself. All methods may be called on any thread.
public final class TrackHub: Sendable {
    let state: RankedMutex<State>
    /// Copies of the layers' `firstShown`. Written with `state` locked; readers check them without the lock before they
    /// send anything.
    let sourceShownFrom = Atomic<UInt64>(0)
    let lowShownFrom = Atomic<UInt64>(0)
    /// The limits of each layer's cache, with whose frames new readers begin.
    public let limits: CacheLimits

    struct State {
        var track: Track
        var readers: [UInt64: Reader] = [:]
        var nextReader: UInt64 = 0
        var source: (any PictureSource)?
        /// Whether sources are to leave out their microphone.
        var isMicrophoneMuted = false
        weak var observer: (any TrackObserver)?
        /// The actions that wait to be carried out, each with the source that the track had at that time.
        var pending: [(action: TrackAction, source: (any PictureSource)?)] = []
        /// Whether some thread is carrying out actions. That thread looks for new ones before it stops.
        var isPerforming = false
    }

    struct Reader {
        let layer: Layer
        var queue: ReaderQueue
        /// The reader's last report on its viewers' paths; nil if they aren't measured.
        var report: PathReport?
        let wake: @Sendable () -> Void
    }

    /// Creates a hub whose track begins at `origin`, the time of this machine's clock now.
    public init(origin: MonotonicTime, limits: CacheLimits = CacheLimits()) {
        self.limits = limits
        state = RankedMutex(State(track: Track(origin: origin, limits: limits)), .trackHub)
    }

    /// Sets the observer, which gets every action. The hub doesn't retain it.
    public func connect(_ observer: any TrackObserver) {
        state.withLock { $0.observer = observer }
    }

    // MARK: For the source

    /// Makes `source` the track's only source. Returns false if another one is still attached.
    public func attach(_ source: any PictureSource, now: MonotonicTime) -> Bool {
        let abilities = source.abilities
        return update { state in
            guard state.track.attach(abilities, now: now) else { return false }
            state.source = source
            if state.isMicrophoneMuted { state.track.actions.insert(.setMicrophoneMuted(true), at: 0) }
            return true
        }
    }

    /// Takes the abilities of `source`, when they become known or change after it was attached.
    public func abilitiesChanged(of source: any PictureSource, now: MonotonicTime) {
        let abilities = source.abilities
        update(from: source) { $0.abilitiesChanged(to: abilities, now: now) }
    }

    /// Detaches `source`, which has gone away; its last frame stays on the track.
    public func detach(_ source: any PictureSource, reason: String, now: MonotonicTime) {
        update { state in
            guard state.source === source else { return }
            state.track.detach(reason: reason, now: now)
            state.source = nil
        }
    }

    /// Takes the next frame of `source`, in order, on the source's thread, and wakes the readers. If `source` isn't the
    /// track's source, the frame is ignored.
    ///
    /// - Parameters:
    ///   - epoch: changes when the source's clock may have changed.
    ///   - arrival: now.
    ///   - whileLocked: called with the frame's number while the lock is held, so that the decode tap gets frames in
    ///     the hub's order; returns whether a key frame is needed.
    /// - Returns: the frame's place on the track; nil if no reader gets it.
    @discardableResult
    public func deliver(
        _ frame: CodedFrame, from source: any PictureSource, epoch: UInt64, arrival: MonotonicTime,
        whileLocked: (_ number: UInt64) -> Bool = { _ in false }
    ) -> TrackFrame? {
        publish { state in
            guard state.source === source else { return nil }
            let (number, placed) = state.track.takeFromSource(frame, epoch: epoch, arrival: arrival)
            if whileLocked(number) { state.track.requestKeyFrame(now: arrival) }
            return placed
        }
    }

    /// Accepts a frame that the host's own encoder made of the picture of the source's frame `number`. Returns the
    /// frame's place on the track; nil if no reader gets it, for example because the source has sent a key frame since.
    public func publishFallback(_ frame: CodedFrame, epoch: UInt64, number: UInt64, now: MonotonicTime) -> TrackFrame? {
        publish { $0.track.takeFallback(frame, epoch: epoch, number: number, now: now) }
    }

    /// Accepts a frame of the low layer, made of the picture of the source's frame `number`. Returns whether the frame
    /// got a place on the track: not if viewers may not see the picture, or if the layer no longer has readers.
    public func takeLow(_ frame: CodedFrame, epoch: UInt64, number: UInt64, now: MonotonicTime) -> Bool {
        publish(to: .low) { $0.track.takeLow(frame, epoch: epoch, number: number, now: now) } != nil
    }

    /// Passes on what `source` reports about the pointer, if it is the track's source.
    public func report(_ report: PointerReport, from source: any PictureSource) {
        update(from: source) { $0.report(report) }
    }

    /// Takes the report of `source` on whether it shows the screen; the next frame that it sends is a key frame.
    ///
    /// - Parameter pausesItself: whether the source may pause without an order; an audio source doesn't.
    public func sharingChanged(
        of source: any PictureSource, to sharing: SharingState, pausesItself: Bool = true
    ) {
        update(from: source) { $0.sharingChanged(to: sharing, pausesItself: pausesItself) }
    }

    /// Takes new statistics of `source`, which count from its `epoch`, and how long its pictures have taken so far.
    public func statisticsChanged(
        of source: any PictureSource, to statistics: CaptureStatistics, epoch: UInt64, stages: StageTimes,
        now: MonotonicTime
    ) {
        let report = SourceReport(statistics: statistics, epoch: epoch, stages: stages, arrival: now)
        update(from: source) { $0.workReported(report) }
    }

    // MARK: For people

    /// Pauses sharing, or goes on. Once a call that pauses has returned, nothing is published that was captured before
    /// it: a viewer who joins from then on sees nothing of the screen, and neither does a snapshot.
    ///
    /// - Parameter order: the number of an order that goes to several tracks; it increases with each order. An order
    ///   that arrives after a later one does nothing, so that all tracks end up with the last one. An order without a
    ///   number always takes effect.
    /// - Parameter now: the time, for sound: audio captured before sharing goes on isn't heard later either.
    public func setPaused(_ isPaused: Bool, order: UInt64? = nil, now: MonotonicTime = .zero) {
        update { $0.track.setPaused(isPaused, order: order, now: now) }
    }

    /// Has the current source and all later ones leave out the microphone, or no longer.
    public func muteMicrophone(_ isMuted: Bool) {
        update { state in
            state.isMicrophoneMuted = isMuted
            if state.source != nil { state.track.actions.append(.setMicrophoneMuted(isMuted)) }
        }
    }

    /// Whether the sharer pauses, here or at the source.
    public var isPausedBySharer: Bool { state.withLock { $0.track.isPausedBySharer } }

    /// Sets the limits of the current source and of all later ones.
    public func limit(_ limits: SourceLimits, now: MonotonicTime) {
        update { $0.track.change(now: now) { $0.limits = limits } }
    }

    /// The limits that a person has set.
    public var sourceLimits: SourceLimits { state.withLock { $0.track.demand.limits } }

    /// Sets whether what the source sends is recorded. A recording counts as a viewer, so the source doesn't pause.
    public func setRecorded(_ isRecorded: Bool, now: MonotonicTime) {
        update { $0.track.change(now: now) { $0.isRecorded = isRecorded } }
    }

    /// Adds `change` to the number of requests that wait for a single picture. Returns the time since which the source
    /// has been running; earlier pictures show the screen as it was when the source paused.
    @discardableResult
    public func changeSnapshots(by change: Int, now: MonotonicTime) -> MonotonicTime? {
        update { state in
            state.track.change(now: now) { $0.snapshots += change }
            return state.track.demand.runningSince
        }
    }

    /// Sets whether the pointer is drawn into the pictures, or reported for viewers to draw. The current source and
    /// later ones are told the mode if they can report the pointer.
    public func setPointerMode(_ mode: PointerMode) {
        update { $0.track.setPointerMode(mode) }
    }

    /// Whether a key frame would be of any use now: not while the sharer pauses a source that doesn't by itself.
    public var takesKeyFrame: Bool { state.withLock { $0.track.takesKeyFrame } }

    /// Returns whether viewers may see the picture of the source's frame `number`. While the sharer pauses, viewers may
    /// see only the slate; afterwards, nothing from before the pause.
    public func shows(_ number: UInt64) -> Bool { state.withLock { $0.track.shows(number) } }

    /// The source's state, as viewers are told.
    public var sourceState: SourceState { state.withLock { $0.track.state } }

    /// The statistics that the source sent last; nil if it has sent none, or is gone.
    public func statistics(now: MonotonicTime) -> CaptureStatistics? {
        state.withLock { $0.track.work.report?.statistics(now: now) }
    }

    /// How long the source's pictures had taken when it last sent statistics; nil if it has sent none, or is gone.
    public var stages: StageTimes? { state.withLock { $0.track.work.report?.stages } }

    /// What all sources of the track have done, by their reports. These numbers never fall.
    public var work: SourceTotals { state.withLock { $0.track.work.total } }

    /// What the track has done so far. These numbers never fall.
    public var totals: TrackTotals { state.withLock { $0.track.totals } }

    // MARK: Running the track

    private func update(from source: any PictureSource, _ body: (inout Track) -> Void) {
        update { state in
            if state.source === source { body(&state.track) }
        }
    }

    /// Changes the state with the lock held, then carries out the actions that follow.
    @discardableResult
    func update<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, isOurs) = state.withLock { state in
            let leaving = state.source
            let result = body(&state)
            sourceShownFrom.store(state.track[.source].firstShown, ordering: .releasing)
            lowShownFrom.store(state.track[.low].firstShown, ordering: .releasing)
            return (result, state.takeActions(of: state.source ?? leaving))
        }
        if isOurs { performActions() }
        return result
    }

    /// Changes the state like `update`, for a frame that goes to all readers of `layer`.
    private func publish(to layer: Layer = .source, _ body: (inout State) -> TrackFrame?) -> TrackFrame? {
        var wakes: [@Sendable () -> Void] = []
        let placed = update { state in
            guard let placed = body(&state) else { return nil as TrackFrame? }
            for key in state.readers.keys where state.readers[key]?.layer == layer {
                guard state.readers[key]?.queue.append(placed) == true else { continue }
                if let wake = state.readers[key]?.wake { wakes.append(wake) }
            }
            return placed
        }
        for wake in wakes { wake() }
        return placed
    }

    private func performActions() {
        while let (action, source, observer) = state.withLock({ $0.nextAction() }) {
            source?.perform(action)
            observer?.perform(action)
        }
    }
}

extension TrackHub.State {
    /// Takes the track's new actions. Returns whether the caller must carry them out.
    fileprivate mutating func takeActions(of source: (any PictureSource)?) -> Bool {
        guard !track.actions.isEmpty else { return false }
        for action in track.actions { pending.append((action, source)) }
        track.actions.removeAll(keepingCapacity: true)
        defer { isPerforming = true }
        return !isPerforming
    }

    /// The next action to carry out; nil once there is none.
    fileprivate mutating func nextAction() -> (TrackAction, (any PictureSource)?, (any TrackObserver)?)? {
        guard !pending.isEmpty else {
            isPerforming = false
            return nil
        }
        let (action, source) = pending.removeFirst()
        return (action, source, observer)
    }
}

/// Receives a track's actions: in order, on one thread at a time, and without the lock. Must not block.
public protocol TrackObserver: AnyObject, Sendable {
    /// Does the observer's part of `action`; the source has done its part already.
    func perform(_ action: TrackAction)
}
