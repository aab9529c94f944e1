import Clocks
import LockOrder
import MediaFiles
import MediaTypes
import OutputLife
import ScreenRelayKit
import Synchronization
import Threading
import TrackHub

/// The work of a push's thread in one attempt: it waits for the beginning, connects, and writes until the end.
///
/// Belongs to that thread, whose body creates it. It can't be copied, so no other thread can have it.
struct PushSender: ~Copyable {
    let exchange: PushExchange
    /// Whether the attempt waits for a source, whose sound isn't known either.
    let isEarly: Bool
    let report: @Sendable (OutputLife.Event) -> Void
    /// Requests the frame that the connection begins with.
    private var start = StartRequest()
    /// When the source is asked for a picture, if none has arrived.
    private var still: StillRhythm

    /// Begins now, when the track has been asked for the first frame. `report` is called with the attempt's events.
    init(_ exchange: PushExchange, isEarly: Bool, report: @escaping @Sendable (OutputLife.Event) -> Void) {
        self.exchange = exchange
        self.isEarly = isEarly
        self.report = report
        let now = MonotonicTime.now()
        still = StillRhythm(isWatched: exchange.target.isWatched, isCoarse: exchange.target.isCoarse, at: now)
        if exchange.isOfTrack { start.begin(at: now) }
    }

    mutating func run() {
        let (number, target, settings) = (exchange.number, exchange.target, exchange.settings)
        let connection = exchange.connection
        defer { exchange.abandon() }
        guard let beginning = waitForBeginning() else {
            if !connection.isAbandoned { report(.closed(attempt: number)) }
            return
        }
        if target.isListener {
            // It may wait for long, and key frames that nobody gets must not be asked for meanwhile.
            exchange.inbox.withLock { $0.isWaiting = true }
        } else {
            report(.dialled(attempt: number))
        }
        guard let (address, place) = findAddress() else { return }
        do throws(MediaFileError) {
            let hasSound = beginning.hasSound || settings.content == .both && address.container.needsSound
            if hasSound { exchange.progress.withLock { $0.lacksSound = false } }
            let sound = try hasSound ? address.sound(settings.sound) : nil
            var stream = try PushStream(
                beginning.picture, sound, origin: exchange.track.origin, to: address, at: place,
                connection: connection)
            exchange.progress.withLock { $0.meter = OutputMeter(at: MonotonicTime.now()) }
            report(.opened(attempt: number))
            if target.isListener {
                // The receiver that was waited for gets what is shown now.
                let source = exchange.inbox.withLock { inbox in
                    (inbox.queue, inbox.isWaiting) = (OutputQueue(), false)
                    return inbox.inputs.source
                }
                still.connected()
                source?.requestKeyFrame()
            } else if let picture = beginning.picture {
                try write(picture, to: &stream)
            }
            try writeAll(to: &stream)
            if connection.isAbandoned { return }
            connection.allow(until: MonotonicTime.now() + settings.sendTimeout)
            if address.container == .transportStream { linger() }
            try stream.finish()
            report(.closed(attempt: number))
        } catch {
            if connection.isAbandoned { return }
            let reason = connection.isLate ? "timed out" : "\(error)"
            report(.failed(attempt: number, OutputError(reason, nameMayBeInUse: error == .nameInUse)))
        }
    }

    /// Waits for the next frame, or until silence is due, and meanwhile requests missing pictures.
    mutating func next(silenceDue: MonotonicTime = .distantFuture) -> PushExchange.Next {
        while !exchange.connection.isAbandoned {
            let now = MonotonicTime.now()
            if let next = exchange.inbox.withLock({ $0.next(now, silenceDue: silenceDue) }) {
                if case .frame(let frame) = next, frame.format.kind == .video {
                    start.end()
                    still.came(isKeyFrame: frame.coded.isRandomAccess, at: now)
                }
                return next
            }
            if start.takeDue(at: now) { exchange.track.requestKeyFrame() }
            guard now >= still.due else {
                exchange.wake.wait(until: min(still.due, silenceDue, start.deadline))
                continue
            }
            let wantsKeyFrame = still.wantsKeyFrame(at: now) && exchange.keyFrameInterval != nil
            still.wait(from: now)
            let source = exchange.inbox.withLock { $0.inputs.source }
            if wantsKeyFrame { source?.requestKeyFrame() } else { source?.requestPicture() }
        }
        return .end
    }
}
