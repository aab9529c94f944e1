import MediaTypes

/// Detects whether the delay of the path grows or shrinks (draft-ietf-rmcat-gcc-02 sections 5.2 to 5.4, with
/// libwebrtc's line fit instead of the Kalman filter).
///
/// Packets sent within 5 ms form a group, whose delay is the least of its packets' delays, so that an overtaken packet
/// doesn't count. A line is fitted to the smoothed delays of the last groups. Its slope is compared with a threshold
/// that follows the usual slopes of the path: a fixed one would starve beside flows that fill the queue.
struct TrendlineEstimator {
    /// Packets sent within this time form a group: gcc-02 section 5.2.
    private static let groupLength = Interval.milliseconds(5)
    // The four of libwebrtc's trendline_estimator.
    private static let windowSize = 20
    private static let smoothing = 0.9
    private static let gain = 4.0
    private static let maxGroupCount = 60
    /// The threshold at first, and its bounds, in milliseconds: gcc-02 section 5.4.
    private static let initialThreshold = 12.5
    private static let thresholds = 6.0...600
    /// How fast the threshold rises and falls per millisecond, a slope that is so much steeper is an outlier, and no
    /// more time than this counts at once, in milliseconds: libwebrtc's.
    private static let adaptation = (up: 0.0087, down: 0.039, outlier: 15.0, time: 100.0)

    /// Milliseconds, for the line fit.
    private var points: [(time: Double, delay: Double)] = []
    private var nextPoint = 0
    private var groupCount = 0
    private var groupStart: MonotonicTime?
    private var groupDelay = Interval.zero
    private var groupArrival = ReceiverTime(nanoseconds: 0)
    private var smoothed: Double?
    private var threshold = initialThreshold
    private var lastTrend = 0.0
    private var updatedAt: MonotonicTime?

    /// Adds a packet with its delay, and the time of its arrival.
    mutating func add(sentAt: MonotonicTime, delay: Interval, arrival: ReceiverTime) {
        guard let start = groupStart else {
            begin(at: sentAt, delay: delay, arrival: arrival)
            return
        }
        guard sentAt >= start else { return }
        if sentAt - start <= Self.groupLength {
            if delay < groupDelay {
                groupDelay = delay
                groupArrival = arrival
            }
            return
        }
        finishGroup()
        begin(at: sentAt, delay: delay, arrival: arrival)
    }

    private mutating func begin(at time: MonotonicTime, delay: Interval, arrival: ReceiverTime) {
        groupStart = time
        groupDelay = delay
        groupArrival = arrival
    }

    private mutating func finishGroup() {
        let delay = Double(groupDelay.nanoseconds) / 1e6
        let arrival = Double(groupArrival.nanoseconds) / 1e6
        let value = (smoothed ?? delay) * Self.smoothing + delay * (1 - Self.smoothing)
        smoothed = value
        groupCount += 1
        if points.count < Self.windowSize {
            points.append((arrival, value))
        } else {
            points[nextPoint] = (arrival, value)
            nextPoint = (nextPoint + 1) % Self.windowSize
        }
    }

    /// The state after the packets of one feedback.
    mutating func usage(at now: MonotonicTime) -> BandwidthUsage {
        guard points.count == Self.windowSize, let slope else { return .normal }
        let trend = Double(min(groupCount, Self.maxGroupCount)) * slope * Self.gain
        defer {
            adapt(to: abs(trend), at: now)
            lastTrend = trend
        }
        if trend > threshold { return trend >= lastTrend ? .overusing : .normal }
        return trend < -threshold ? .underusing : .normal
    }

    /// The threshold rises slowly and falls fast, as the draft has it; outliers don't move it.
    private mutating func adapt(to magnitude: Double, at now: MonotonicTime) {
        let elapsed = updatedAt.map { min(Double((now - $0).nanoseconds) / 1e6, Self.adaptation.time) } ?? 0
        updatedAt = now
        guard magnitude <= threshold + Self.adaptation.outlier else { return }
        let speed = magnitude < threshold ? Self.adaptation.down : Self.adaptation.up
        let value = threshold + speed * (magnitude - threshold) * elapsed
        threshold = min(max(value, Self.thresholds.lowerBound), Self.thresholds.upperBound)
    }

    /// Milliseconds of delay gained for each millisecond of time, by least squares.
    private var slope: Double? {
        var time = 0.0
        var delay = 0.0
        for point in points {
            time += point.time
            delay += point.delay
        }
        time /= Double(points.count)
        delay /= Double(points.count)
        var above = 0.0
        var below = 0.0
        for point in points {
            above += (point.time - time) * (point.delay - delay)
            below += (point.time - time) * (point.time - time)
        }
        return below > 0 ? above / below : nil
    }
}

/// Whether the packets of one feedback show that a queue grows (draft-ietf-rmcat-gcc-02 section 5.4).
enum BandwidthUsage {
    case normal
    case overusing
    case underusing
}
