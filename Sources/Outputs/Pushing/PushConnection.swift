import Clocks
import CodecTable
import MediaFiles
import MediaTypes
import OutputLife
import ScreenRelayKit
import Synchronization
import Threading
import TrackHub

/// Where the frames of a push come from: the track itself, or an encoder for other settings.
enum PushSource: Sendable {
    case track(HostedTrack)
    case encoder(Reencoder)

    fileprivate var isTrack: Bool {
        if case .track = self { return true }
        return false
    }

    /// Asks for one more picture of a screen that stands still; an encoder repeats its last one anyhow.
    fileprivate func requestPicture() {
        if case .track(let track) = self { track.requestPicture() }
    }

    fileprivate func requestKeyFrame() {
        switch self {
        case .track(let track): track.requestKeyFrame()
        case .encoder(let encoder): encoder.requestKeyFrame()
        }
    }
}

/// One attempt of a push, and the connection that comes of it. Others give it frames, and a thread of its own writes
/// them, because libavformat blocks.
final class PushConnection: Sendable {
    private static let longestSilence = Interval.seconds(5)

    let attempt: Int
    private let target: PushTarget
    private let resolve: (@Sendable (String) -> String?)?
    private let isOfTrack: Bool
    private let sendTimeout: Interval
    private let keyFrameInterval: Interval
    private let connection = MediaConnection()
    private let wake: WakeUp
    private let shared: Mutex<Shared>
    private let report: @Sendable (OutputLife.Event) -> Void

    private struct Shared {
        var queue = OutputQueue<TrackFrame>()
        var meter: OutputMeter
        var isClosing = false
        /// Whether what comes is for nobody, until somebody connects.
        var isWaiting = false
        /// Nil once the attempt is over: its thread may still wait for a name, and must not keep an encoder.
        var source: PushSource?
        /// The frames of the track; nil if an encoder gives them, or once the attempt is over.
        var subscription: TrackSubscription?
        /// Ends the coming of an encoder's frames.
        var unsubscribe: (@Sendable () -> Void)?
        var keyFrameDue = MonotonicTime.distantFuture
    }

    /// What waits, and what was left out.
    struct Backlog {
        var age = Interval.zero
        var byteCount = 0
        var droppedPictures = 0
        var sentByteCount: Int64 = 0
        var sentPictures = 0
    }

    /// Begins an attempt; nil if the process has no descriptor or thread left. `report` is called on the attempt's
    /// thread, and `wake` on the source's when ``collect()`` has something to do.
    init?(
        _ attempt: Int, to target: PushTarget, of source: PushSource, settings: PushSettings,
        wake collects: @escaping @Sendable () -> Void, report: @escaping @Sendable (OutputLife.Event) -> Void
    ) {
        guard let wake = WakeUp() else { return nil }
        self.attempt = attempt
        self.target = target
        resolve = settings.resolve
        isOfTrack = source.isTrack
        self.wake = wake
        self.report = report
        sendTimeout = settings.sendTimeout
        keyFrameInterval = settings.keyFrameInterval
        shared = Mutex(Shared(meter: OutputMeter(at: MonotonicTime.now()), source: source))
        guard NamedThread("push", blocksSignals: true, body: { [self] in run() }) != nil else { return nil }
        switch source {
        case .track(let track):
            let subscription = track.subscribe(wake: collects)
            shared.withLock { $0.subscription = subscription }
        case .encoder(let encoder):
            let unsubscribe = encoder.subscribe { [weak self] in
                self?.take($0)
            } fail: {
                report(.failed(attempt: attempt, $0))
            }
            shared.withLock { $0.unsubscribe = unsubscribe }
        }
        // It may have been abandoned meanwhile.
        if connection.isAbandoned { abandon() }
    }

    /// Takes what has come of the track.
    func collect() {
        let subscription = shared.withLock { $0.subscription }
        for frame in subscription?.take() ?? [] { take(frame) }
    }

    /// Sends what waits, and then ends.
    func close() {
        shared.withLock { $0.isClosing = true }
        wake.signal()
    }

    /// Ends at once, wherever it is.
    func abandon() {
        connection.abandon()
        let (subscription, unsubscribe, source) = shared.withLock { shared in
            defer { (shared.subscription, shared.unsubscribe, shared.source) = (nil, nil, nil) }
            return (shared.subscription, shared.unsubscribe, shared.source)
        }
        unsubscribe?()
        wake.signal()
        // Their end tells others, which must not happen under the lock.
        _ = (subscription, source)
    }

    /// What was sent since the last call.
    func takeRates(_ now: MonotonicTime) -> OutputMeter.Rates { shared.withLock { $0.meter.take(at: now) } }

    /// Whether the network has just turned out to be weak.
    func isWeak(_ now: MonotonicTime) -> Bool { shared.withLock { $0.meter.isWeak(at: now) } }

    func backlog(_ now: MonotonicTime) -> Backlog {
        shared.withLock {
            Backlog(
                age: $0.queue.age(at: now), byteCount: $0.queue.byteCount, droppedPictures: $0.queue.dropped.pictures,
                sentByteCount: $0.meter.sentByteCount, sentPictures: $0.meter.sentPictures)
        }
    }

    // MARK: The control thread, or the encoder's

    private func take(_ frame: TrackFrame) {
        let now = MonotonicTime.now()
        let asked = shared.withLock { shared -> PushSource? in
            if shared.isClosing || shared.isWaiting { return nil }
            shared.meter.gave()
            if frame.coded.isRandomAccess, isOfTrack { shared.keyFrameDue = now + keyFrameInterval }
            shared.queue.add(
                frame, frame.coded.isRandomAccess ? .keyFrame : .picture, byteCount: frame.coded.bytes.count, at: now)
            return shared.queue.needsKeyFrame || now >= shared.keyFrameDue ? shared.source : nil
        }
        asked?.requestKeyFrame()
        wake.signal()
    }

    // MARK: The thread

    private func run() {
        defer { abandon() }
        guard let first = next() else {
            if !connection.isAbandoned { report(.closed(attempt: attempt)) }
            return
        }
        if target.isListener {
            // It may wait for long, and key frames that nobody gets must not be asked for meanwhile.
            shared.withLock { $0.isWaiting = true }
        } else {
            report(.dialled(attempt: attempt))
        }
        guard let (address, place) = findAddress() else { return }
        do throws(MediaFileError) {
            var stream = try PushStream(first, to: address, at: place, connection: connection)
            shared.withLock { $0.meter = OutputMeter(at: MonotonicTime.now()) }
            report(.opened(attempt: attempt))
            if target.isListener {
                // Whoever was waited for gets what is shown now.
                let source = shared.withLock { shared in
                    (shared.queue, shared.isWaiting) = (OutputQueue(), false)
                    return shared.source
                }
                source?.requestKeyFrame()
            } else {
                try write(first, to: &stream)
            }
            while let frame = next() { try write(frame, to: &stream) }
            if connection.isAbandoned { return }
            connection.allow(until: MonotonicTime.now() + sendTimeout)
            if address.container == .transportStream { linger() }
            try stream.finish()
            report(.closed(attempt: attempt))
        } catch {
            if connection.isAbandoned { return }
            let reason = connection.isLate ? "it takes nothing more" : "\(error)"
            report(.failed(attempt: attempt, OutputFailure(reason)))
        }
    }

    /// Where this attempt goes; nil once it has failed or is abandoned.
    private func findAddress() -> (address: PushAddress, place: ResolvedAddress)? {
        do throws(OutputError) {
            let address = try target.find(connection)
            let place = try address.resolved(by: resolve)
            if connection.isAbandoned { return nil }
            return (address, place)
        } catch {
            if !connection.isAbandoned { report(.failed(attempt: attempt, OutputFailure("\(error)"))) }
            return nil
        }
    }

    /// Waits for the next frame; nil at the end.
    private func next() -> TrackFrame? {
        while !connection.isAbandoned {
            let (frame, isClosing) = shared.withLock { ($0.queue.next()?.element, $0.isClosing) }
            if let frame { return frame }
            if isClosing { return nil }
            let silence = MonotonicTime.now() + Self.longestSilence
            wake.wait(until: silence)
            // A server that hears nothing for long takes the push for dead, and one that is dead is noticed only when
            // something is sent.
            if MonotonicTime.now() >= silence { shared.withLock { $0.source }?.requestPicture() }
        }
        return nil
    }

    /// Waits for the longest that an SRT receiver usually keeps what has arrived: it throws that away when the connection
    /// ends.
    private func linger() {
        let end = MonotonicTime.now() + .milliseconds(500)
        while !connection.isAbandoned, MonotonicTime.now() < end { wake.wait(until: end) }
    }

    private func write(_ frame: TrackFrame, to stream: inout PushStream) throws(MediaFileError) {
        connection.allow(until: MonotonicTime.now() + sendTimeout)
        try stream.write(frame)
        shared.withLock { $0.meter.sentFrame(isPicture: true, byteCount: frame.coded.bytes.count) }
    }
}

/// The stream of one connection: the track's frames, with times from 0.
private struct PushStream: ~Copyable {
    private let writer: MediaFileWriter
    private var reader: any FrameReader
    /// The time of the first frame that was written.
    private var firstTicks: Int64?
    private let clockRate: ClockRate

    /// Connects, and sends what comes before the first frame.
    init(
        _ first: TrackFrame, to address: PushAddress, at place: ResolvedAddress, connection: MediaConnection
    ) throws(MediaFileError) {
        var facts = first.format.codec.coding.makeReader()
        guard let found = facts.read(first.coded) else { throw .rejected(reason: "the track's headers can't be read") }
        let track = MediaTrack(
            format: found.format, headers: found.headers,
            changesHeaders: address.container == .fragmentedMP4, longestStep: .zero, lastDuration: .zero)
        writer = try MediaFileWriter(
            address: place.url, options: place.options, container: address.container, track: track,
            connection: connection)
        reader = first.format.codec.coding.makeReader()
        clockRate = first.format.clockRate
    }

    mutating func write(_ frame: TrackFrame) throws(MediaFileError) {
        let facts = reader.read(frame.coded)
        let start = firstTicks ?? frame.time.ticks
        firstTicks = start
        let time = clockRate.interval(of: frame.time.ticks - start)
        var packet = MediaPacket(frame: frame.coded, decodingTime: time, presentationTime: time)
        if let facts, facts.changesHeaders { packet.newHeaders = facts.headers }
        try writer.write(packet)
    }

    func finish() throws(MediaFileError) { try writer.finish() }
}
