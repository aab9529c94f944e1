import MediaTypes

/// Puts the samples of one device into the slots that they were captured in, and corrects the drift of its clock.
///
/// A run begins at the beginning of a slot. From then on, the resampler is steered so that samples stay within 1 ms of
/// their place, even if the device's clock differs by some hundred ppm from ours. In between, the resampler is left
/// alone: each change of its ratio is a change of pitch, far too small to hear, but not to measure. Not thread-safe.
final class SlotFeeder {
    private let queue: SlotQueue
    private let corrector: DriftCorrector
    private var clock = DeviceClock()
    /// Whether the next samples continue the previous ones.
    private var hasRun = false
    /// The frames received from the device.
    private var received: Int64 = 0
    /// Frames to leave out, because they belong to slots that are filled already.
    private var skipped = 0
    private var start = Slot(number: 0)
    /// Frames of this run in the queue.
    private var produced: Int64 = 0
    /// `produced` at which the place of the samples is looked at again.
    private var nextLook: Int64 = 0
    private var isCorrecting = false

    private static let lookPeriod: Int64 = 48_000
    /// An error of the place beyond the larger one, in seconds, is corrected until it is below the smaller one.
    private static let tolerance = (begin: 0.5e-3, end: 0.1e-3)
    /// How long the correction takes, in seconds: 0.5 ms are 17 ppm, which leave a tone 40 dB above its distortion.
    private static let correctionTime = 30.0
    /// An error beyond this, in seconds, is seen on lips, and corrected faster.
    private static let urgent = (error: 5e-3, time: 4.0)
    /// An error beyond this, in seconds, ends the run.
    private static let gap = 0.05

    /// Feeds `queue`.
    init(_ queue: SlotQueue) throws(AudioError) {
        self.queue = queue
        corrector = try DriftCorrector(channelCount: queue.channelCount)
    }

    /// Whether it is known when samples were captured, so that `add` may be called.
    var isSettled: Bool { clock.isSettled }

    /// Ends the run: the device is gone, or sleeps, or works in blocks of another length from now on.
    func end() {
        clock.reset()
        hasRun = false
        queue.endRun()
    }

    /// Notes that the frame so many frames after the next one was captured at about `time`.
    @discardableResult
    func observe(ahead: Int64, at time: MonotonicTime) -> DeviceClock.Outcome {
        let outcome = clock.observe(received + ahead, at: time)
        if outcome == .restarted { hasRun = false }
        return outcome
    }

    /// Adds interleaved samples; `isSettled` must be true.
    func add(_ samples: UnsafeBufferPointer<Float>) {
        if !hasRun { begin() }
        let channels = queue.channelCount
        let left = min(skipped, samples.count / channels)
        skipped -= left
        received += Int64(left)
        var rest = samples[(left * channels)...]
        while rest.count >= channels {
            let piece = rest.prefix(DriftCorrector.frameLimit * channels)
            let converted = corrector.convert(UnsafeBufferPointer(rebasing: piece))
            queue.append(converted)
            produced += Int64(converted.count / channels)
            received += Int64(piece.count / channels)
            rest = rest.dropFirst(piece.count)
        }
        if produced >= nextLook { steer() }
    }

    /// Leaves out samples of silence that isn't needed. The clock goes on.
    func skip(_ samples: UnsafeBufferPointer<Float>) {
        received += Int64(samples.count / queue.channelCount)
        if hasRun { queue.endRun() }
        hasRun = false
    }

    private func begin() {
        let first = clock.time(of: Double(received))
        start = queue.beginRun(at: Slot(notBefore: first) + -1)
        let lead = Int(((first - start.time).seconds * Slot.sampleRate).rounded())
        skipped = max(0, -lead)
        produced = Int64(max(0, lead))
        queue.appendSilence(frames: max(0, lead))
        nextLook = Self.lookPeriod
        isCorrecting = false
        corrector.reset()
        corrector.adjust(clock.rate)
        hasRun = true
    }

    /// Compares the capture time of the next output sample with the place where it will stand.
    private func steer() {
        let captured = clock.time(of: Double(received) - corrector.delay)
        let error = (captured - (start.time + ClockRate.audio.interval(of: produced))).seconds
        nextLook = produced + Self.lookPeriod
        if abs(error) > Self.gap {
            hasRun = false
            return
        }
        isCorrecting = abs(error) > (isCorrecting ? Self.tolerance.end : Self.tolerance.begin)
        let time = abs(error) > Self.urgent.error ? Self.urgent.time : Self.correctionTime
        // Even if the rate is as before: libswresample forgets it after `DriftCorrector.distance`.
        corrector.adjust(clock.rate + (isCorrecting ? error / time : 0))
    }
}
