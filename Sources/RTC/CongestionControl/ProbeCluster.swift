public import MediaTypes

/// A short run of packets at a rate above the estimate, which shows whether the path carries that much.
public struct ProbeCluster: Hashable, Sendable {
    /// The rate to send at.
    public var rate: BitRate
    /// The number of packets that complete the cluster, once ``minByteCount`` bytes were sent too.
    public var minPacketCount: Int
    /// The number of bytes that complete the cluster, once ``minPacketCount`` packets were sent too.
    public var minByteCount: Int
}

/// Measures one probe: how much the delay of its packets grows over the probe.
///
/// A path that is slower than the probe delays each packet more than the one before. The slope of a line through all
/// delays is less disturbed by jitter than the times of the first and the last packet.
struct ProbeMeasurement {
    /// More packets than this don't make it more precise.
    private static let maxCount = 128
    /// Fewer packets than this show nothing, and neither does a smaller part of those sent.
    private static let minCount = 4
    private static let minPercentage = 40

    /// Milliseconds, for the line fit.
    private var points: [(sentAt: Double, arrivedAt: Double)] = []
    private var origin: MonotonicTime?
    /// The packets that arrived.
    private(set) var receivedCount = 0

    /// Adds a packet that arrived, in the order of sending.
    mutating func add(sentAt: MonotonicTime, delay: Interval) {
        let origin = origin ?? sentAt
        self.origin = origin
        receivedCount += 1
        let moment = Double((sentAt - origin).nanoseconds) / 1e6
        let arrival = moment + Double(delay.nanoseconds) / 1e6
        // A packet that this one has overtaken was held up somewhere else.
        while let last = points.last, last.arrivedAt > arrival { points.removeLast() }
        if points.count < Self.maxCount { points.append((moment, arrival)) }
    }

    /// Milliseconds of delay gained in each millisecond of sending; nil if too few of the packets sent arrived.
    func growth(of sent: Int) -> Double? {
        let count = Double(points.count)
        guard points.count >= Self.minCount, points.count * 100 >= Self.minPercentage * min(sent, Self.maxCount) else {
            return nil
        }
        var time = 0.0
        var arrival = 0.0
        for point in points {
            time += point.sentAt / count
            arrival += point.arrivedAt / count
        }
        var above = 0.0
        var below = 0.0
        for point in points {
            above += (point.sentAt - time) * (point.arrivedAt - arrival)
            below += (point.sentAt - time) * (point.sentAt - time)
        }
        guard below > 1 else { return nil }
        return max(0, above / below - 1)
    }
}
