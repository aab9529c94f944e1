public import MediaTypes

/// Records when the packets of a transport arrive, and reports that to their sender, whose congestion control needs it
/// (``TransportFeedback``).
public struct TransportArrivals: Sendable {
    /// The interval between two reports while packets arrive, as libwebrtc sends them at most.
    static let interval = Interval.milliseconds(50)
    /// The unit of a report's reference time, 64 ms, in the unit of its deltas.
    private static let referenceStep: Int64 = 256

    private let sender: SSRC
    private let origin: MonotonicTime
    /// The packets that no report contains yet, by their numbers without wrapping.
    private var arrivals: [Int64: MonotonicTime] = [:]
    private var latest: Int64?
    /// The number after the last one that was reported; before the first report, that of the first packet.
    private var next: Int64?
    private var media = SSRC(0)
    private var feedbackCount: UInt8 = 0
    /// When the next report is due; `distantFuture` if there is nothing to report.
    public private(set) var deadline = MonotonicTime.distantFuture

    /// Reports are from `sender`, and their times count from `now`.
    public init(sender: SSRC, now: MonotonicTime) {
        self.sender = sender
        origin = now
    }

    /// Records the arrival of the packet with this transport-wide number, of the stream `media`, which is read `now`.
    /// The time until its report counts from then, so all packets that waited with it are in that report.
    public mutating func note(_ number: UInt16, of media: SSRC, arrival: MonotonicTime, now: MonotonicTime) {
        // Far from zero, so that a packet that was overtaken at the beginning has a number too.
        let previous = latest ?? Int64(number) + (1 << 32)
        let extended = previous + Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: previous)))
        // If it is far away, another sequence has begun, or what is between is lost for good.
        let isFar = next.map { abs(extended - $0) >= Int64(TransportFeedback.maxArrivalCount) } ?? true
        if isFar {
            arrivals = [:]
            next = extended
        }
        latest = max(previous, extended)
        self.media = media
        if arrivals[extended] == nil { arrivals[extended] = arrival }
        if deadline == .distantFuture { deadline = now + Self.interval }
    }

    /// The report that is due; nil if there is none.
    public mutating func report(now: MonotonicTime) -> TransportFeedback? {
        guard now >= deadline else { return nil }
        deadline = .distantFuture
        guard let lowest = arrivals.keys.min(), let highest = arrivals.keys.max(), let start = arrivals[lowest] else {
            return nil
        }
        let base = min(lowest, next ?? lowest)
        var ticks = self.ticks(at: start) / Self.referenceStep * Self.referenceStep
        let reference = ticks / Self.referenceStep
        var reported: [TransportFeedback.Arrival] = []
        var number = base
        while number <= highest, reported.count < TransportFeedback.maxArrivalCount {
            if let time = arrivals[number] {
                let arrived = self.ticks(at: time)
                // A longer time has no place in a report, and begins another one.
                guard let delta = Int16(exactly: arrived - ticks) else { break }
                reported.append(.received(delta: delta))
                arrivals[number] = nil
                ticks = arrived
            } else {
                reported.append(.notReceived)
            }
            number += 1
        }
        next = max(number, next ?? number)
        if !arrivals.isEmpty { deadline = now }
        let feedback = TransportFeedback(
            sender: sender, media: media, base: UInt16(truncatingIfNeeded: base),
            referenceTime: Int32(truncatingIfNeeded: (reference << 40) >> 40), feedbackCount: feedbackCount,
            arrivals: reported)
        feedbackCount &+= 1
        return feedback
    }

    /// A time in units of 250 µs.
    private func ticks(at time: MonotonicTime) -> Int64 { (time - origin).nanoseconds / 250_000 }
}
