import CaptureLink
import MediaTypes
import Synchronization
import Testing
import TrackHub

/// A track's source that remembers what it was asked, and hears what the host's own encoder is asked.
final class RecordingSource: PictureSource, TrackObserver {
    private struct State {
        var changesChroma = false
        var returnsTo444 = 0
        var keyFrameRequests = 0
        var pictureRequests = 0
        var watched: [Bool] = []
        var rates: [BitRate] = []
        var carried: [BitRate] = []
        var frameRates: [FrameRate] = []
        var lowRate: BitRate?
        var lowKeyFrameRequests = 0
    }

    private let state = Mutex(State())

    /// How often somebody was asked for a key frame: the source, the host's own encoder or both.
    var keyFrameRequests: Int { state.withLock { $0.keyFrameRequests } }
    var pictureRequests: Int { state.withLock { $0.pictureRequests } }
    var watched: [Bool] { state.withLock { $0.watched } }
    var rates: [BitRate] { state.withLock { $0.rates } }
    var carried: [BitRate] { state.withLock { $0.carried } }
    var frameRates: [FrameRate] { state.withLock { $0.frameRates } }
    /// The rate at which the host's encoder is to encode the low layer; nil if nobody takes it.
    var lowRate: BitRate? { state.withLock { $0.lowRate } }
    /// How often that encoder was asked for a key frame, other than its first.
    var lowKeyFrameRequests: Int { state.withLock { $0.lowKeyFrameRequests } }
    /// How often it was asked for 4:4:4 again.
    var returnsTo444: Int { state.withLock { $0.returnsTo444 } }

    let makesKeyFrames = true
    let restsUnwatched = false
    var changesChroma: Bool {
        get { state.withLock { $0.changesChroma } }
        set { state.withLock { $0.changesChroma = newValue } }
    }

    func perform(_ action: TrackAction) {
        state.withLock { state in
            switch action {
            case .makeKeyFrame: state.keyFrameRequests += 1
            case .encodeLow(let rate): state.lowRate = rate
            case .makeLowKeyFrame: state.lowKeyFrameRequests += 1
            default: break
            }
        }
    }

    func requestPicture() { state.withLock { $0.pictureRequests += 1 } }
    func setWatched(_ isWatched: Bool) { state.withLock { $0.watched.append(isWatched) } }
    func setTargetBitRate(_ rate: BitRate) { state.withLock { $0.rates.append(rate) } }
    func setCarriedBitRate(_ rate: BitRate) { state.withLock { $0.carried.append(rate) } }
    func setFrameRate(_ rate: FrameRate) { state.withLock { $0.frameRates.append(rate) } }
    func setChroma(_ format: ChromaFormat) { state.withLock { $0.returnsTo444 += format == .yuv444 ? 1 : 0 } }
}

extension TrackHub {
    /// Makes `source` the track's.
    func connect(source: RecordingSource) {
        connect(source)
        #expect(attach(source, now: .zero))
    }

    /// Delivers a frame of the track's source.
    @discardableResult
    func publish(_ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime) -> TrackFrame? {
        source.flatMap { deliver(frame, from: $0, epoch: epoch, arrival: arrival) }
    }
}
