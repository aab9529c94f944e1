import Clocks
import ColorConversion
import MediaTypes
import OutputLife
import OutputSettings
import ScreenRelayKit
import Synchronization
import Threading
import TrackHub
import VideoDecoding
import VideoEncoding
import X264Encoding

/// Re-encodes a track's pictures, once for all outputs that want the same and have no filter.
///
/// A thread of its own decodes the track, and encodes the newest picture as often as the settings ask for. While
/// nothing changes, the last picture is repeated once a second, which takes a few bytes, so that players go on.
/// Pictures keep their times, so that they stay in step with the track's sound. It runs as long as somebody holds it.
final class Reencoder: Sendable {
    /// What those who share one have in common.
    private struct Key: Hashable {
        var track: ObjectIdentifier
        var settings: VideoSettings
    }

    private struct Weak: Sendable {
        weak var reencoder: Reencoder?
    }

    private static let running = Mutex<[Key: Weak]>([:])

    /// The one for these settings: a running one, or a new one. Nil if the process has no thread or descriptor left.
    static func shared(_ track: HostedTrack, _ settings: VideoSettings) -> Reencoder? {
        running.withLock { running in
            running = running.filter { $0.value.reencoder != nil }
            let key = Key(track: ObjectIdentifier(track), settings: settings)
            if let one = running[key]?.reencoder, !one.work.hasFailed { return one }
            guard let new = Reencoder(track, settings) else { return nil }
            running[key] = Weak(reencoder: new)
            return new
        }
    }

    private let work: Work

    /// One that isn't shared. Nil if the process has no thread or descriptor left.
    init?(_ track: HostedTrack, _ settings: VideoSettings, filter: PushSettings.Filter? = nil) {
        guard let wake = EventFD() else { return nil }
        let work = Work(track, settings, filter, wake: wake)
        // A media thread that wants the same processor must win: what it sends late is late for all of its viewers,
        // while servers and their players keep pictures for a second or more anyway.
        let thread = NamedThread("push encoder", blocksSignals: true, hasLowPriority: true) { work.run() }
        guard thread != nil else { return nil }
        self.work = work
    }

    deinit {
        work.end()
    }

    /// Gives all frames from the next key frame on to `take`, on the encoder's thread; `fail` is called instead of the
    /// first if there will be none. Returns what ends that.
    func subscribe(
        _ take: @escaping @Sendable (TrackFrame) -> Void, fail: @escaping @Sendable (OutputError) -> Void
    ) -> @Sendable () -> Void {
        let key = work.add(Work.Taker(take: take, fail: fail))
        return { [work] in work.remove(key) }
    }

    func requestKeyFrame() { work.requestKeyFrame() }

    /// Repeats the last picture at once, however many there are in a second otherwise: players that begin look at many
    /// pictures, and one that doesn't change takes a few bytes.
    func requestPicture() { work.requestPicture() }

    /// Changes the bit rate and the pictures a second from the next picture on. Each picture gets its share of the bit
    /// rate at the settings' pictures a second, so fewer pictures need less than the bit rate.
    func setPace(_ pace: (bitRate: BitRate, framesPerSecond: Int)) { work.setPace(pace) }
}

/// What the thread of a ``Reencoder`` does, and what it is given.
private final class Work: Sendable {
    struct Taker: Sendable {
        var take: @Sendable (TrackFrame) -> Void
        var fail: @Sendable (OutputError) -> Void
    }

    private struct Shared {
        var needsKeyFrame = false
        var repeats = false
        var pace: (bitRate: BitRate, framesPerSecond: Int)
        var isOver = false
        var failure: OutputError?
        var takers: [Int: Taker] = [:]
        var nextTaker = 0
    }

    /// How often a picture that doesn't change is sent.
    private static let repetition = Interval.seconds(1)

    private let track: HostedTrack
    private let settings: VideoSettings
    private let filter: PushSettings.Filter?
    private let wake: EventFD
    private let shared: Mutex<Shared>

    init(_ track: HostedTrack, _ settings: VideoSettings, _ filter: PushSettings.Filter?, wake: EventFD) {
        self.track = track
        self.settings = settings
        self.filter = filter
        self.wake = wake
        shared = Mutex(Shared(pace: (settings.bitRate, settings.framesPerSecond)))
    }

    func setPace(_ pace: (bitRate: BitRate, framesPerSecond: Int)) { shared.withLock { $0.pace = pace } }

    var hasFailed: Bool { shared.withLock { $0.failure != nil } }

    func requestKeyFrame() {
        shared.withLock { $0.needsKeyFrame = true }
        wake.signal()
    }

    func requestPicture() {
        shared.withLock { $0.repeats = true }
        wake.signal()
    }

    func end() {
        shared.withLock { $0.isOver = true }
        wake.signal()
    }

    func add(_ taker: Taker) -> Int {
        let (key, failure) = shared.withLock { shared in
            shared.nextTaker += 1
            shared.takers[shared.nextTaker] = taker
            shared.needsKeyFrame = true
            return (shared.nextTaker, shared.failure)
        }
        if let failure { taker.fail(failure) }
        wake.signal()
        return key
    }

    func remove(_ key: Int) { shared.withLock { $0.takers[key] = nil } }

    func fail(_ failure: OutputError) {
        let takers = shared.withLock { shared in
            shared.failure = failure
            return Array(shared.takers.values)
        }
        for taker in takers { taker.fail(failure) }
    }

    // MARK: The thread

    func run() {
        let subscription = track.subscribe { [wake] in wake.signal() }
        track.requestStart()
        var start = StartRequest()
        start.begin(at: MonotonicTime.now())
        var pictures = NewestPicture()
        var coder = SettingsCoder(settings, filter)
        var number: UInt64 = 0
        var due = MonotonicTime.now()
        var times = PictureTimes()
        while true {
            let (needsKeyFrame, repeats, isOver, pace) = shared.withLock {
                ($0.needsKeyFrame, $0.repeats, $0.isOver, $0.pace)
            }
            if isOver { return }
            let period = Interval(nanoseconds: 1_000_000_000 / Int64(pace.framesPerSecond))
            do throws(VideoDecodingError) {
                for frame in subscription.take() {
                    start.end()
                    if try !pictures.take(frame) { track.requestKeyFrame() }
                }
            } catch {
                return fail(OutputError("the track can't be decoded: \(error)", isFinal: true))
            }
            let isDue = pictures.isNew || needsKeyFrame
            let now = MonotonicTime.now()
            // A repetition must not show a new picture before it is due.
            let isExtra = repeats && !isDue
            let deadline =
                !pictures.hasPicture
                ? MonotonicTime.distantFuture : isDue ? due : isExtra ? now : due - period + Self.repetition
            if start.takeDue(at: now) { track.requestKeyFrame() }
            guard now >= deadline else {
                wake.wait(until: min(deadline, start.deadline))
                continue
            }
            // A picture that comes a little late doesn't make the next one late.
            if !isExtra { due = now - due < period ? due + period : now + period }
            let shown = pictures.isNew ? pictures.time : nil
            guard let picture = pictures.next() else { continue }
            let (isKeyFrame, takers) = shared.withLock { shared in
                defer { (shared.needsKeyFrame, shared.repeats) = (false, false) }
                return (shared.needsKeyFrame, Array(shared.takers.values))
            }
            do throws(OutputError) {
                let coded = try coder.encode(picture, forcesKeyFrame: isKeyFrame, isExtra: isExtra, rate: pace.bitRate)
                let time = times.next(shown, now - track.origin)
                let frame = TrackFrame(number: number, coded: coded, time: time, arrival: now)
                number += 1
                for taker in takers { taker.take(frame) }
            } catch {
                fail(error)
                return
            }
        }
    }
}

/// The encoder for the settings, and for the present size of the source.
private struct SettingsCoder {
    private let settings: VideoSettings
    private let filter: PushSettings.Filter?
    private var encoder: X264Encoder?
    private var sinceKeyFrame = 0
    private var ticks: Int64 = 0

    init(_ settings: VideoSettings, _ filter: PushSettings.Filter?) {
        self.settings = settings
        self.filter = filter
    }

    mutating func encode(
        _ picture: I420Picture, forcesKeyFrame: Bool, isExtra: Bool, rate: BitRate
    ) throws(OutputError) -> CodedFrame {
        let size = settings.outputSize(for: picture.size)
        guard var scaled = PictureScaling.scale(picture, to: size, crops: settings.fitting == .crop) else {
            throw OutputError("pictures of \(picture.size) can't be scaled to \(size)", isFinal: true)
        }
        filter?(&scaled)
        guard scaled.size == size else {
            throw OutputError("the filter makes \(scaled.size) of pictures of \(size)", isFinal: true)
        }
        do throws(VideoEncodingError) {
            let encoder = try currentEncoder(for: scaled, rate)
            if encoder.configuration.rate != .average(rate) { try encoder.reconfigure(bitRate: rate) }
            // One that isn't counted is no occasion for a key frame either.
            let isKeyFrame = forcesKeyFrame || !isExtra && sinceKeyFrame >= settings.picturesPerKeyFrame
            ticks += 1
            let frame = try encoder.accessUnit(of: scaled, forceIDR: isKeyFrame, time: MediaTime(ticks: ticks))
            sinceKeyFrame = frame.isRandomAccess ? 1 : sinceKeyFrame + (isExtra ? 0 : 1)
            return frame
        } catch {
            throw OutputError("\(error)", isFinal: true)
        }
    }

    private mutating func currentEncoder(
        for picture: I420Picture, _ rate: BitRate
    ) throws(VideoEncodingError) -> X264Encoder {
        if let encoder, encoder.configuration.fits(picture) { return encoder }
        do throws(OutputSettingsError) {
            try settings.check(picture.size)
        } catch {
            throw .failed("\(error)")
        }
        var configuration = X264Configuration(
            size: picture.size, framesPerSecond: settings.framesPerSecond, rate: .average(rate),
            matrix: picture.matrix, isFullRange: picture.isFullRange)
        configuration.level = settings.profileLevel.level
        configuration.profile =
            switch settings.profileLevel.profile {
            case .baseline: .constrainedBaseline
            case .main: .main
            case .high: .high
            }
        let new = try X264Encoder(configuration)
        encoder = new
        return new
    }
}
