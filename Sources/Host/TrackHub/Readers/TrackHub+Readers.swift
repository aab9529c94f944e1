import LockOrder
public import MediaTypes
import Synchronization

/// The part of a hub that readers use: they take frames, ask for key frames, and report who watches.
extension TrackHub {
    /// Adds a reader of `layer`; its first ``TrackReader/take()`` gives the frames since the last random access frame.
    ///
    /// - Parameters:
    ///   - limits: how much may wait for this reader before it loses frames.
    ///   - report: the reader's report on its viewers' paths; nil if they aren't measured.
    ///   - wake: called on the publishing thread when there is something to take; it must not block.
    public func subscribe(
        to layer: Layer = .source, limits: CacheLimits? = nil, report: PathReport? = nil,
        wake: @escaping @Sendable () -> Void
    ) -> TrackReader {
        let limits = limits ?? CacheLimits(bytes: self.limits.bytes * 2, frames: self.limits.frames * 2)
        let key = state.withLock { state in
            let key = state.nextReader
            state.nextReader += 1
            state.readers[key] = Reader(
                layer: layer, queue: ReaderQueue(startingWith: state.track[layer].cache.frames, limits: limits),
                report: report, wake: wake
            )
            return key
        }
        return TrackReader(hub: self, layer: layer, key: key)
    }

    /// Asks for a key frame of `layer`, at most once in 500 ms, or 300 ms for the low layer, however many readers ask.
    /// The request goes to the source, or to the host's own encoder if the source can't make one.
    public func requestKeyFrame(of layer: Layer = .source, now: MonotonicTime) {
        update { $0.track.requestKeyFrame(of: layer, now: now) }
    }

    /// Asks for a key frame for a reader of `layer` that has none to begin with, unless the cache has one.
    public func requestStart(of layer: Layer = .source, now: MonotonicTime) {
        update { $0.track.requestStart(of: layer, now: now) }
    }

    /// Passes on a key frame request that arrived too soon after the previous one.
    func passOnKeptRequest(now: MonotonicTime) {
        update { $0.track.passOnKeptRequest(now: now) }
    }

    /// Asks the source for one more picture, even of a screen that stands still; it need not be a key frame.
    public func requestPicture() {
        update { $0.track.requestPicture() }
    }

    /// Adds a viewer that decodes all formats up to `format`, and tells the source.
    public func viewerCame(decoding format: ChromaFormat, now: MonotonicTime) {
        update { $0.track.viewerCame(decoding: format, now: now) }
    }

    /// Removes a viewer that was added with ``viewerCame(decoding:now:)``.
    public func viewerLeft(decoding format: ChromaFormat, now: MonotonicTime) {
        update { $0.track.viewerLeft(decoding: format, now: now) }
    }

    /// Adds a viewer that checks its pictures (``PictureSamples``), or removes one if `change` is -1.
    public func changeCheckingViewers(by change: Int) {
        update { $0.track.checkingViewersChanged(by: change) }
    }

    /// Asks the source for 4:4:4 again, if the time for that has come.
    public func pollChroma(now: MonotonicTime) {
        update { $0.track.pollChroma(now: now) }
    }

    /// When ``pollChroma(now:)`` has something to do; nil if nothing is due.
    public var chromaDeadline: MonotonicTime? { state.withLock { $0.track.chroma.deadline } }
    /// The chroma format that all viewers can decode.
    public var wantedChroma: ChromaFormat { state.withLock { $0.track.chroma.wanted } }

    /// Returns whether a viewer that decodes all formats up to `format` can't watch, because it can't decode the
    /// track's format and the source can't send another.
    public func excludes(viewerDecoding format: ChromaFormat) -> Bool {
        format != .yuv444 && state.withLock { $0.track.excludes(viewerDecoding: format) }
    }

    /// Whether the track has a source now.
    public var hasSource: Bool { source != nil }
    /// The track's source, if it has one.
    public var source: (any PictureSource)? { state.withLock { $0.source } }
    /// The bit rate at which the low layer is encoded; nil if it has no readers.
    public var lowRate: BitRate? { state.withLock { $0.track.rates.low } }
    /// How many viewers there are.
    public var viewers: Int { state.withLock { $0.track.demand.viewers } }
    /// How many frames have been published so far.
    public var publishedFrames: UInt64 { state.withLock { $0.track[.source].nextNumber } }
    /// Whether a reader that joins now can begin without a new key frame.
    public var canStart: Bool { state.withLock { $0.track[.source].cache.canStart } }
    /// The frames since the last random access frame.
    public var cachedFrames: [TrackFrame] { state.withLock { $0.track[.source].cache.frames } }
    /// The media time of `moment`, for sender reports: in ticks of `rate`, since the track has no format before its
    /// first frame.
    public func mediaTime(at moment: MonotonicTime, rate: ClockRate) -> MediaTime {
        let origin = state.withLock { $0.track.origin }
        return MediaTime(ticks: rate.ticks(in: moment - origin))
    }
    /// The lowest number of a frame of `layer` that may still be shown; for readers that keep frames themselves.
    public func firstShown(of layer: Layer = .source) -> UInt64 {
        switch layer {
        case .source: sourceShownFrom.load(ordering: .acquiring)
        case .low: lowShownFrom.load(ordering: .acquiring)
        }
    }

    fileprivate func take(_ layer: Layer, _ key: UInt64, _ lost: borrowing Atomic<UInt64>) -> [TrackFrame] {
        state.withLock { state in
            let cache = state.track[layer].cache.frames
            state.readers[key]?.queue.recover(with: cache)
            lost.store(state.readers[key]?.queue.lostFrames ?? 0, ordering: .relaxed)
            return state.readers[key]?.queue.take() ?? []
        }
    }

    fileprivate func report(_ report: PathReport, of key: UInt64, now: MonotonicTime) -> SharedRates {
        update { state in
            state.readers[key]?.report = report
            state.shareRates(now: now)
            return state.track.rates
        }
    }

    fileprivate func end(_ key: UInt64, now: MonotonicTime) {
        update { state in
            state.readers[key] = nil
            state.shareRates(now: now)
        }
    }

    fileprivate func remove(_ key: UInt64) {
        state.withLock { state in state.readers[key] = nil }
    }
}

extension TrackHub.State {
    fileprivate mutating func shareRates(now: MonotonicTime) {
        track.pathsChanged(readers.values.map { ($0.layer, $0.report) }, now: now)
    }
}

/// One reader of a hub; it is unsubscribed when it is released.
public final class TrackReader: Sendable {
    private let hub: TrackHub
    private let layer: Layer
    fileprivate let key: UInt64
    private let lost = Atomic<UInt64>(0)

    fileprivate init(hub: TrackHub, layer: Layer, key: UInt64) {
        self.hub = hub
        self.layer = layer
        self.key = key
    }

    deinit {
        hub.remove(key)
    }

    /// Returns all frames that have arrived since the last call, oldest first. A gap in their numbers means that frames
    /// were lost; the first frame after a gap is a random access frame. May be called on any thread.
    public func take() -> [TrackFrame] { hub.take(layer, key, lost) }

    /// Reports the rates that the viewers' paths can carry now, on any thread. Returns the encoders' rates that follow
    /// from all readers' reports; a reader without measured paths that has come or left counts from then on.
    @discardableResult
    public func report(_ paths: PathReport, now: MonotonicTime) -> SharedRates {
        hub.report(paths, of: key, now: now)
    }

    /// Ends the subscription, and the effect of the reader's report on the encoders.
    public func end(now: MonotonicTime) { hub.end(key, now: now) }

    /// How many frames this reader had lost by its last ``take()``: because it was too slow, or because they came
    /// before the first random access frame.
    public var lostFrames: UInt64 { lost.load(ordering: .relaxed) }
}
