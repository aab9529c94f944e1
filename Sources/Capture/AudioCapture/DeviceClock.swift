import MediaTypes

/// Estimates when each sample of a device was captured, on CLOCK_MONOTONIC, from observations that jitter.
///
/// A Kalman filter whose state is the offset from a clock of exactly 48 kHz, and the rate at which that offset grows.
/// It knows a drift of 200 ppm after a few seconds, and follows one that changes in about 10 s. A value without I/O;
/// the time is an argument.
struct DeviceClock {
    /// The result of an observation.
    enum Outcome {
        /// The device goes on.
        case followed
        /// The observation is so far away that samples may be missing; the next ones will show it.
        case far
        /// This is the first observation, or samples are missing: later samples don't continue earlier ones.
        case restarted
    }

    /// How much longer a sample of the device lasts than one at 48 kHz: 0.0002 if its clock is 200 ppm slow.
    private(set) var rate = 0.0

    /// Whether two observations in a row have agreed. Right after a device began to work, or to work in blocks of
    /// another length, a server is up to such a block wrong.
    private(set) var isSettled = false

    private var isAnchored = false
    /// Observations before it was settled.
    private var unsettledCount = 0
    private var anchorPosition: Int64 = 0
    private var anchorTime = MonotonicTime.zero
    private var lastPosition: Int64 = 0
    /// At `lastPosition`, in seconds.
    private var offset = 0.0
    private var offsetVariance = 0.0
    private var covariance = 0.0
    private var rateVariance = 0.0
    /// Observations in a row that were far away from the estimate.
    private var farCount = 0
    /// Observations in a row that were too late: where they began, and how late the least of them was.
    private var late: (since: Int64, least: Double)?

    /// The variance of one observation: 0.3 ms.
    private static let noise = 1e-7
    /// How uncertain the first observation is (5 ms), and the rate before any other (200 ppm).
    private static let firstOffsetVariance = 25e-6
    private static let firstRateVariance = 4e-8
    /// How much the rate may wander: 1 ppm in a second.
    private static let rateNoise = 1e-12
    /// No sound card is worse.
    private static let rateLimit = 1e-3
    /// An observation that is further away counts as this much: so many standard deviations.
    private static let outlier = 3.0
    /// So far away, in seconds, is no jitter; if it is seen so many times, samples are missing.
    private static let gap = 0.05
    private static let gapCount = 3
    /// An observation that is so much too late, in seconds, isn't believed before so many samples have passed without
    /// one that is on time. A monitor holds back samples that its sink may still rewind, up to a block, without
    /// counting them. Samples passed on thus seem late by as much for seconds, and never early.
    private static let lateness = (error: 1.5e-3, span: Int64(480_000))
    /// Two observations agree up to this distance, in seconds; where none do, the last of so many is believed.
    private static let agreement = 2e-3
    private static let maxUnsettled = 12

    /// Forgets the device.
    mutating func reset() {
        self = DeviceClock()
    }

    /// When the sample at `position` was captured; `position` counts samples of one channel, and may lie between two.
    func time(of position: Double) -> MonotonicTime {
        nominalTime(of: position)
            + Self.interval(offset + rate * (position - Double(lastPosition)) / Slot.sampleRate)
    }

    /// Adds an observation: the sample at `position` seems to have been captured at `time`.
    mutating func observe(_ position: Int64, at time: MonotonicTime) -> Outcome {
        guard isAnchored else {
            anchor(position, time)
            return .restarted
        }
        // The server repeats its last answer until samples arrive.
        if !isSettled, position == lastPosition { return .restarted }
        predict(position)
        let error = (time - nominalTime(of: Double(position))).seconds - offset
        if !isSettled {
            let count = unsettledCount + 1
            if abs(error) > Self.agreement { anchor(position, time) }
            isSettled = abs(error) <= Self.agreement || count >= Self.maxUnsettled
            unsettledCount = count
            if abs(error) > Self.agreement { return .restarted }
        }
        if abs(error) > Self.gap {
            farCount += 1
            guard farCount >= Self.gapCount else { return .far }
            anchor(position, time)
            return .restarted
        }
        farCount = 0
        if let accepted = accepted(error) { correct(accepted) }
        return .followed
    }

    /// The rest of an error once it is clear whether the observation was late; nil if that isn't clear.
    private mutating func accepted(_ error: Double) -> Double? {
        guard error > Self.lateness.error else {
            late = nil
            return error
        }
        let (since, least) = (late?.since ?? lastPosition, min(late?.least ?? error, error))
        guard lastPosition - since >= Self.lateness.span else {
            late = (since, least)
            return nil
        }
        late = nil
        offset += least
        return error - least
    }

    private mutating func anchor(_ position: Int64, _ time: MonotonicTime) {
        self = DeviceClock()
        isAnchored = true
        anchorPosition = position
        anchorTime = time
        lastPosition = position
        offsetVariance = Self.firstOffsetVariance
        rateVariance = Self.firstRateVariance
    }

    /// Moves the state on to `position`.
    private mutating func predict(_ position: Int64) {
        let step = Double(position - lastPosition) / Slot.sampleRate
        guard step > 0 else { return }
        lastPosition = position
        offset += rate * step
        offsetVariance += step * (2 * covariance + step * rateVariance) + Self.rateNoise * step * step * step / 3
        covariance += step * rateVariance + Self.rateNoise * step * step / 2
        rateVariance += Self.rateNoise * step
    }

    private mutating func correct(_ error: Double) {
        let total = offsetVariance + Self.noise
        let limit = Self.outlier * total.squareRoot()
        let bounded = max(-limit, min(error, limit))
        let offsetGain = offsetVariance / total
        let rateGain = covariance / total
        offset += offsetGain * bounded
        rate = max(-Self.rateLimit, min(rate + rateGain * bounded, Self.rateLimit))
        rateVariance -= rateGain * covariance
        covariance *= 1 - offsetGain
        offsetVariance *= 1 - offsetGain
    }

    private func nominalTime(of position: Double) -> MonotonicTime {
        anchorTime + Self.interval((position - Double(anchorPosition)) / Slot.sampleRate)
    }

    private static func interval(_ seconds: Double) -> Interval {
        Interval(nanoseconds: Int64((seconds * 1e9).rounded()))
    }
}
