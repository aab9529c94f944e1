import Clocks
import LockOrder
import MediaFiles
import MediaTypes
import OutputLife
import ScreenRelayKit
import Synchronization
import Threading
import TrackHub

/// One attempt of a push, and the connection that comes of it, for the control thread. A thread of its own writes the
/// frames, because libavformat blocks, and makes AAC of the sound (``PushSender``). The two threads share the
/// ``PushExchange``.
final class PushConnection: PushAttempt {
    private let exchange: PushExchange
    private let thread: NamedThread

    /// Begins an attempt; nil if the process has no descriptor or thread left. `report` is called on the attempt's
    /// thread, and `wake` on the source's when ``collect()`` has something to do.
    init?(
        _ number: Int, to target: PushTarget, of track: HostedTrack, _ source: PushSource, settings: PushSettings,
        wake: @escaping @Sendable () -> Void, report: @escaping @Sendable (OutputLife.Event) -> Void
    ) {
        guard let exchange = PushExchange(number, to: target, of: track, source, settings: settings) else { return nil }
        let isEarly = !track.hasPictures
        exchange.subscribe(to: source, collect: wake) { report(.failed(attempt: number, $0)) }
        // The thread may outlive the attempt, so it doesn't capture `source`, which keeps an encoder running.
        let thread = NamedThread("push", blocksSignals: true) {
            var sender = PushSender(exchange, isEarly: isEarly, report: report)
            sender.run()
        }
        guard let thread else {
            exchange.abandon()
            return nil
        }
        self.exchange = exchange
        self.thread = thread
    }

    var number: Int { exchange.number }

    /// Its own thread asks for what is missing.
    var deadline: MonotonicTime { .distantFuture }

    /// Takes what has come of the track.
    func collect() {
        let now = MonotonicTime.now()
        let (hasSound, pictures) = exchange.inbox.withLock { ($0.takeSound(now), $0.inputs.pictures) }
        if hasSound { exchange.wake.signal() }
        for frame in pictures?.take() ?? [] { exchange.take(frame) }
    }

    /// Sends what waits, and then ends.
    func close() {
        exchange.inbox.withLock { $0.isClosing = true }
        exchange.wake.signal()
    }

    /// Ends at once, wherever it is.
    func abandon() { exchange.abandon() }

    /// Waits until its thread has ended, but no longer than until `deadline`.
    func join(until deadline: MonotonicTime) { thread.join(until: deadline) }

    var isStale: Bool {
        let (lacksSound, isStale) = exchange.progress.withLock {
            ($0.lacksSound, $0.lacksPictures || $0.hasEndedFile)
        }
        return isStale || lacksSound && exchange.track.hasSound
    }

    /// What was sent since the last call.
    func takeRates(_ now: MonotonicTime) -> OutputMeter.Rates { exchange.progress.withLock { $0.meter.take(at: now) } }

    /// Measures what the network took of the second that has passed. Returns whether it has just turned out to be weak.
    func takeWeakness(_ now: MonotonicTime) -> Bool {
        let connection = exchange.connection
        return exchange.progress.withLock {
            $0.meter.isWeak(at: now) {
                connection.counters.map {
                    PathCounters(
                        sent: $0.sentPackets, lost: $0.lostPackets, waiting: $0.waiting, roundTrip: $0.roundTrip)
                }
            }
        }
    }

    func backlog(_ now: MonotonicTime) -> PushBacklog {
        let meter = exchange.progress.withLock { $0.meter }
        return exchange.inbox.withLock {
            PushBacklog(
                age: $0.queue.age(at: now), byteCount: $0.queue.byteCount, dropped: $0.queue.dropped,
                sent: (meter.sentPictures, meter.sentSound), sentPictureBytes: meter.sentPictureBytes,
                path: meter.path)
        }
    }
}
