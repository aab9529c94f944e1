import MediaTypes
import RTP

/// The rate for a peer that sends reception reports, but no transport-wide feedback.
///
/// Reports come about once a second, so one window of reports is one decision. A long round trip shows a queue, and
/// then the packets that were delivered in the meantime show the link's rate. Loss alone lowers the rate only if
/// sending less avoids it (``LossBasedEstimator``). The streams of a session take the same path, so their reports count
/// together.
struct ReportedRate {
    /// What is known about the sending side.
    struct Sending {
        /// The present rate, in bits per second.
        var rate: Double
        /// The bytes sent so far, retransmissions included, and the number of the next packet.
        var byteCount: Int64
        var nextPacket: Int64
        var isApplicationLimited: Bool
    }

    /// What is known about one stream: the highest number reported so far, and the last one sent by then.
    private struct Stream {
        var highest: UInt32
        var last: SequenceNumber
        /// The sender report that its last round trip was measured with.
        var senderReport: UInt32

        /// The number of packets sent that the last report did not cover.
        var outstanding: Int {
            max(SequenceNumber(UInt16(truncatingIfNeeded: highest)).distance(to: last), 0)
        }
    }

    /// What came since the last decision, in packets.
    private struct Window {
        var start: MonotonicTime
        var byteCount: Int64 = 0
        var sent = 0.0
        var covered = 0.0
        var lost = 0.0
        var outstanding = 0
        /// Whether the queue was measured.
        var hasQueue = false
    }

    /// The shortest time over which a rate is measured. Some peers send a report with every request for a packet.
    private static let shortest = Interval.milliseconds(500)
    /// A queue that is more than jitter, and one that doesn't keep the rate from rising, in milliseconds.
    private static let long = 60.0
    private static let short = 40.0
    /// If fewer of our packets are on their way, the queue is not ours.
    private static let fewPackets = 8
    private static let beta = 0.85
    /// The last packets may have been lost, so they are no queue.
    private static let mayBeLost = 3
    /// A queue that a peer's own delay doesn't explain, in milliseconds, if it still grows.
    private static let certain = 400.0
    /// A source that sends less than this says nothing about the path, whatever it loses.
    private static let little = 300_000.0

    private var leastRoundTrip = WindowedMinimum(span: 10_000_000_000)
    private var streams: [SSRC: Stream] = [:]
    private var window: Window?
    private var losses = LossBasedEstimator()
    /// The rate before a trial.
    private var triedRate = 0.0
    /// What the link delivered when its queue was last long, in bits per second, until more than that has been sent.
    private var capacity: Double?
    /// The queue at the last decision, if it was a reason to lower the rate.
    private var lastQueue: Double?
    /// The queue at the last decision, whatever followed from it.
    private var queueBefore = 0.0
    /// The round trip beyond the least one of the last 10 to 20 s, in milliseconds.
    private(set) var queue = 0.0
    /// What arrived between the last two decisions, in bits per second.
    private(set) var acknowledgedBitRate = 0.0
    private var faults = ReportFaults()
    /// What is wrong with the peer's reports; nil if nothing is known to be.
    private(set) var fault: String?

    /// Whether our queue on the path drains.
    var isDraining: Bool { lastQueue != nil }

    /// Takes a report about one stream. Returns false if it can't be true: then it says nothing, and is left out.
    ///
    /// - Parameters:
    ///   - lastSent: the number of the stream's last packet.
    ///   - age: how long the packets that the report doesn't cover have been on their way; nil if it was too long to be
    ///     remembered, or if there weren't that many.
    mutating func take(
        _ report: ReceptionReport, lastSent: SequenceNumber, roundTripTime: Interval?, byteCount: Int64,
        age: (_ outstanding: Int) -> Interval?, at now: MonotonicTime
    ) -> Bool {
        let highest = SequenceNumber(UInt16(truncatingIfNeeded: report.highestSequenceNumber))
        let distance = highest.distance(to: lastSent)
        let isUncovered = distance > Self.mayBeLost
        let age = isUncovered ? age(distance - Self.mayBeLost) : nil
        if let fault = faults.evaluate(
            report, distance: distance, age: age, isUncovered: isUncovered, roundTripTime: roundTripTime,
            before: streams[report.ssrc].map { ($0.highest, $0.outstanding) })
        {
            if self.fault == nil, !fault.isEmpty { self.fault = fault }
            return false
        }
        let before = streams.updateValue(
            Stream(
                highest: report.highestSequenceNumber, last: lastSent, senderReport: report.lastSenderReport),
            forKey: report.ssrc)
        let isNew = before?.senderReport != report.lastSenderReport
        let isMeasured = measureQueue(isNew ? roundTripTime : nil, age, at: now)
        var window = window ?? Window(start: now, byteCount: byteCount)
        // A stream's first report covers an unknown time.
        if let before {
            let covered = Int(Int32(bitPattern: report.highestSequenceNumber &- before.highest))
            if (0..<65_536).contains(covered) {
                window.sent += Double(max(before.last.distance(to: lastSent), 0))
                window.covered += Double(covered)
                window.lost += Double(covered) * Double(report.fractionLost) / 256
                window.outstanding = streams.values.reduce(0) { max($0, $1.outstanding) }
                window.hasQueue = window.hasQueue || isMeasured
            }
        }
        self.window = window
        return true
    }

    /// Returns whether the queue is known again.
    private mutating func measureQueue(_ roundTripTime: Interval?, _ age: Interval?, at now: MonotonicTime) -> Bool {
        if let roundTripTime { leastRoundTrip.add(Double(roundTripTime.nanoseconds) / 1e6, at: now.nanoseconds) }
        // The report left the peer before these packets reached it, so the round trip is at least as long as their age.
        guard let longest = [roundTripTime, age].compactMap(\.self).max(), leastRoundTrip.value.isFinite else {
            return false
        }
        queue = max(Double(longest.nanoseconds) / 1e6 - leastRoundTrip.value, 0)
        return true
    }

    /// Returns the rate after the reports so far, in bits per second.
    mutating func rate(_ sending: Sending, at now: MonotonicTime) -> Double {
        guard let window, now - window.start >= Self.shortest else { return sending.rate }
        let elapsed = (now - window.start).seconds
        self.window = Window(start: now, byteCount: sending.byteCount, outstanding: window.outstanding)
        let sent = Double(sending.byteCount - window.byteCount) * 8 / elapsed
        // What the path loses on its own passed the narrow link all the same, or never came there.
        let share = window.sent > 0 ? (window.covered - window.lost) / window.sent / (1 - losses.inherentLoss) : 1
        losses.record(
            window.covered, lost: window.lost, last: sending.nextPacket - Int64(window.outstanding))

        acknowledgedBitRate = sent * min(max(share, 0), 1)
        // A path that loses nothing of a source that sends little carries all of it. A peer that is busy answers late
        // now and then, which looks like a queue for a moment; a real one grows beyond that, until packets are lost.
        let isGrowing = queueBefore >= Self.certain && queue > queueBefore + Self.long
        queueBefore = queue
        let carriesAll =
            sending.isApplicationLimited && lastQueue == nil && !isGrowing && window.lost <= window.covered / 100
        let isOurs = !sending.isApplicationLimited || window.outstanding >= Self.fewPackets || share < 0.85
        guard queue > Self.long, isOurs else {
            defer { lastQueue = nil }
            return rateByLoss(sending, sent: sent, since: window.start, mayRise: lastQueue == nil, at: now)
        }
        guard window.hasQueue else {
            // What is not measured any more is forgotten by and by.
            queue /= 2
            return sending.rate
        }
        losses.abandon(at: sending.nextPacket)
        guard !carriesAll else { return sending.rate }
        defer { lastQueue = queue }
        // It drains. The round trip is that of up to a second ago, so it may seem longer than it is.
        if let lastQueue, queue < lastQueue * 0.8 || share > 0.97 { return sending.rate }
        // Only between two reports that both found a queue was the link busy all the time.
        let isMeasured = lastQueue != nil || !sending.isApplicationLimited
        if isMeasured { capacity = sent * share }
        return min(sending.rate, max(sent * share * Self.beta, isMeasured ? 0 : min(sent, sending.rate / 2)))
    }

    private mutating func rateByLoss(
        _ sending: Sending, sent: Double, since start: MonotonicTime, mayRise: Bool, at now: MonotonicTime
    ) -> Double {
        let used = min(sending.rate, sent)
        let evaluation = losses.evaluate(
            rate: used, sent: sent, isApplicationLimited: sending.isApplicationLimited && sent < Self.little,
            next: sending.nextPacket, since: start, at: now)
        switch evaluation {
        case .keep:
            guard mayRise, !losses.isTrying, !sending.isApplicationLimited, queue < Self.short else { break }
            let elapsed = min((now - start).seconds, 1)
            if let capacity, sending.rate > capacity * 1.2 { self.capacity = nil }
            let isNear = capacity.map { sending.rate > $0 * 0.9 } ?? false
            // It grows with the root of the rate only: so flows that share a link meet.
            return sending.rate + elapsed * min((isNear ? 50 : 250) * sending.rate.squareRoot(), sending.rate / 3)
        case .lower(let rate):
            if losses.isTrying { triedRate = sending.rate }
            return min(rate, sending.rate)
        case .restore: return max(triedRate, sending.rate)
        case .carries(let rate): capacity = rate
        }
        return sending.rate
    }
}
