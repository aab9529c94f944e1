import AudioCoding
import Clocks
import MediaTypes
import Threading

/// A source of sound: has a stream from its device while it is wanted, and feeds the queue that is mixed.
///
/// After 2 s of digital silence, while nothing can follow because no program plays on the sink or the microphone is
/// muted, a microphone's stream is closed until the server reports a change. A sink's stream stays open: it costs
/// nothing once the server has suspended the sink, as servers do after some seconds. Belongs to the capture thread.
final class AudioSource {
    /// The slots to mix.
    let queue: SlotQueue
    let configuration: AudioConfiguration.Source
    private let feeder: SlotFeeder
    private let log: EventLog
    private var stream: RecordStream?
    /// Until when the stream is kept although nothing can be heard.
    private var keptUntil = MonotonicTime.zero
    private var mayBeHeard = false
    /// Whether the arriving samples are silence that isn't needed.
    private var isIdle = false
    /// The earliest time for another stream, after the server has ended one.
    private var retryTime = MonotonicTime.zero

    private static let keptSilence = Interval.seconds(2)
    private static let retryDelay = Interval.milliseconds(500)

    init(_ configuration: AudioConfiguration.Source, channelCount: Int, log: EventLog) throws(AudioError) {
        self.configuration = configuration
        self.log = log
        queue = SlotQueue(channelCount: channelCount)
        feeder = try SlotFeeder(queue)
    }

    /// The factor that is the gain.
    var gain: Float { Decibels.factor(configuration.gain) }

    /// The time at which `advance` has something to do even if nothing has arrived.
    var deadline: MonotonicTime {
        guard let stream else { return retryTime == .zero ? .distantFuture : retryTime }
        if isIdle { return .distantFuture }
        if !mayBeHeard { return keptUntil }
        return feeder.isSettled || stream.isSuspended ? .distantFuture : stream.timingDue
    }

    /// Opens or closes the stream, and reads the samples that have arrived. `pulse` is nil without a connection, and
    /// while no listener hears the source.
    func advance(_ now: MonotonicTime, _ pulse: PulseConnection?) {
        let device = pulse?.devices?.device(configuration.kind)
        if now >= retryTime { retryTime = .zero }
        if let stream, stream.hasEnded {
            log.debug("the stream from \(stream.device) has ended")
            close()
            retryTime = now + Self.retryDelay
        }
        if let stream, stream.device != device?.source { close() }
        guard let device, let context = pulse?.readyContext else { return close() }
        mayBeHeard = device.mayBeHeard
        if mayBeHeard { keptUntil = now + Self.keptSilence }
        if stream == nil, mayBeHeard || canStay, retryTime == .zero { open(context, device, now) }
        read(now)
        idle(now)
    }

    /// A recorded sink disturbs no one, but a microphone that is in use is shown to the user.
    private var canStay: Bool { configuration.kind == .desktop }

    private func idle(_ now: MonotonicTime) {
        guard let stream, isIdle != (now >= keptUntil) else { return }
        isIdle.toggle()
        log.debug(isIdle ? "nothing is to be heard from \(stream.device)" : "listening to \(stream.device)")
        if isIdle, !canStay { close() }
    }

    /// Closes the stream. Samples that have arrived stay in the queue.
    func close() {
        guard stream != nil else { return }
        stream = nil
        isIdle = false
        feeder.end()
    }

    private func open(_ context: OpaquePointer, _ device: PulseDevices.Device, _ now: MonotonicTime) {
        log.debug("listening to \(device.source)")
        stream = RecordStream(
            context, device: device.source, isMonitor: configuration.kind == .desktop,
            channelCount: queue.channelCount)
        if stream == nil { retryTime = now + Self.retryDelay }
    }

    private func read(_ now: MonotonicTime) {
        guard let stream else { return }
        if stream.isSuspended {
            feeder.end()
            stream.sleep()
            return
        }
        if let timing = stream.timing() {
            let outcome = feeder.observe(ahead: timing.framesAhead, at: timing.time)
            if outcome == .far || !feeder.isSettled { stream.hurry() }
        }
        stream.read { samples in
            // As long as something may be heard, the time moves on anyway.
            if !mayBeHeard, !SilenceGate.isSilent(samples) { keptUntil = now + Self.keptSilence }
            if now >= keptUntil {
                feeder.skip(samples)
            } else if feeder.isSettled {
                feeder.add(samples)
            } else {
                return false
            }
            return true
        }
    }
}
