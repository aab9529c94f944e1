import MediaTypes
import RTP

/// The rate for a peer that sends reception reports, but no transport-wide feedback.
///
/// Reports arrive about once a second, so one window of reports is one decision. A long round trip shows a queue, and
/// then the packets that were delivered in the meantime show the link's rate. Without a queue, loss lowers the rate
/// only if sending less avoids the loss (``LossBasedEstimator``). The streams of a session share a path, so their
/// reports count together.
struct ReportedRate {
    /// What is known about the sending side.
    struct SenderState {
        /// The present rate.
        var rate: BitRate
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

    /// The reports since the last decision, in packets.
    private struct ReportWindow {
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
    private static let minTime = Interval.milliseconds(500)
    /// A queue that is more than jitter, and a queue so short that the rate may rise.
    private static let longQueue = Interval.milliseconds(60)
    private static let shortQueue = Interval.milliseconds(40)
    /// If fewer of our packets are on their way, the queue is not ours.
    private static let fewPackets = 8
    private static let beta = 0.85
    /// The last packets may have been lost, so they are no queue.
    private static let mayBeLost = 3
    /// A queue that a peer's own delay doesn't explain, if it still grows.
    private static let certainQueue = Interval.milliseconds(400)
    /// A source that sends less than this shows nothing about the path, whatever it loses.
    private static let little = BitRate(bitsPerSecond: 300_000)
    /// Less loss than this is none: a path that loses so little of a source that sends little carries all of it.
    private static let noLoss = 0.01
    /// So much loss, in 256ths of so many packets, may be that of a queue which was full before the first report. With
    /// less, a peer that always reports a wrong delay isn't taken for one with a queue.
    private static let earlyLoss = (fraction: UInt8(64), packets: 20)
    /// From the first report on, the round trip before it is worth so much time.
    private static let earlyTime = Interval.seconds(20)
    /// If less than this share arrives, the queue is ours.
    private static let fullShare = 0.85
    /// A queue drains if no more than this share of it is left, or more than this share of the sent packets arrives.
    private static let drained = (queue: 0.8, share: 0.97)
    /// Between these shares of the link's measured rate, the increase is slow.
    private static let nearCapacity = 0.9...1.2
    /// The increase in a second for each root of the rate, in bits per second, and at most as a share of the rate.
    private static let increasePerRoot = (near: 50.0, far: 250.0)
    private static let maxIncrease = 1.0 / 3
    /// For so long after the link's rate was measured, the rate rises to at most this multiple of it, or this multiple
    /// of the rate that arrives. The low layer sends a little less than the rate, but far less than the source needs.
    private static let limitTime = Interval.seconds(60)
    private static let limitShares = (measured: 1.25, arriving: 1.5)
    private static let maxElapsed = Interval.seconds(1)

    private var minRoundTrip = WindowedMinimum(span: .seconds(10))
    /// The round trip before our packets filled the path, if it is known, until it is used. The first reports may all
    /// come through a full queue, and then only this shows how long that is.
    private var emptyRoundTrip: Interval?
    private var firstReportAt: MonotonicTime?
    private var streams: [SSRC: Stream] = [:]
    private var window: ReportWindow?
    private var losses = LossBasedEstimator()
    /// The rate before a trial.
    private var triedRate = BitRate.zero
    /// The link's rate when it was last full, and when that was.
    private var capacity: (rate: BitRate, measuredAt: MonotonicTime)?
    /// The queue at the last decision, if it was a reason to lower the rate.
    private var lastQueue: Interval?
    /// The queue at the last decision, whatever the decision was.
    private var queueBefore = Interval.zero
    /// The round trip beyond the least one of the last 10 to 20 s.
    private(set) var queue = Interval.zero
    /// The rate that arrived between the last two decisions.
    private(set) var acknowledgedBitRate = BitRate.zero
    private var faults = ReportFaults()
    /// The fault of the peer's reports; nil if none is known.
    private(set) var fault: String?

    /// - Parameter emptyRoundTrip: the round trip before anything was sent, if it is known.
    init(emptyRoundTrip: Interval? = nil) { self.emptyRoundTrip = emptyRoundTrip }

    /// Whether our queue on the path drains.
    var isDraining: Bool { lastQueue != nil }

    /// Processes a report about one stream. Returns false, and ignores the report, if it can't be true.
    ///
    /// - Parameters:
    ///   - lastSent: the number of the stream's last packet.
    ///   - age: how long the packets that the report doesn't cover had been on their way when it arrived; nil if it was
    ///     too long to be remembered, or if there weren't that many.
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
        // A stream's first report covers an unknown time.
        let covered = before.map { Int(Int32(bitPattern: report.highestSequenceNumber &- $0.highest)) } ?? 0
        useEmptyRoundTrip(report.fractionLost, covered, hasRoundTrip: roundTripTime != nil, at: now)
        let isNew = before?.senderReport != report.lastSenderReport
        let isMeasured = measureQueue(isNew ? roundTripTime : nil, age, at: now)
        var window = window ?? ReportWindow(start: now, byteCount: byteCount)
        if let before, (0..<65_536).contains(covered) {
            window.sent += Double(max(before.last.distance(to: lastSent), 0))
            window.covered += Double(covered)
            window.lost += Double(covered) * Double(report.fractionLost) / 256
            window.outstanding = streams.values.reduce(0) { max($0, $1.outstanding) }
            window.hasQueue = window.hasQueue || isMeasured
        }
        self.window = window
        return true
    }

    /// Has the round trip before the first report count as the least one, if the report tells of so much loss that the
    /// queue may have been full since.
    private mutating func useEmptyRoundTrip(
        _ fractionLost: UInt8, _ covered: Int, hasRoundTrip: Bool, at now: MonotonicTime
    ) {
        guard let roundTrip = emptyRoundTrip else { return }
        let firstReportAt = firstReportAt ?? now
        self.firstReportAt = firstReportAt
        guard now - firstReportAt <= Self.earlyTime else { return emptyRoundTrip = nil }
        guard hasRoundTrip, fractionLost > Self.earlyLoss.fraction, covered >= Self.earlyLoss.packets else { return }
        minRoundTrip.add(roundTrip, at: now.nanoseconds)
        emptyRoundTrip = nil
    }

    /// Returns whether the queue is known again.
    private mutating func measureQueue(_ roundTripTime: Interval?, _ age: Interval?, at now: MonotonicTime) -> Bool {
        if let roundTripTime { minRoundTrip.add(roundTripTime, at: now.nanoseconds) }
        // The report left the peer before these packets reached it, so the round trip is at least as long as their age.
        guard let longest = [roundTripTime, age].compactMap(\.self).max(), let least = minRoundTrip.value else {
            return false
        }
        queue = max(longest - least, .zero)
        return true
    }

    /// Returns the rate after the reports so far.
    mutating func rate(_ sending: SenderState, at now: MonotonicTime) -> BitRate {
        guard let window, now - window.start >= Self.minTime else { return sending.rate }
        let elapsed = now - window.start
        self.window = ReportWindow(start: now, byteCount: sending.byteCount, outstanding: window.outstanding)
        let sent = BitRate(Double(sending.byteCount - window.byteCount), in: elapsed)
        // Packets of the path's own loss either passed the narrow link or never reached it.
        let share = window.sent > 0 ? (window.covered - window.lost) / window.sent / (1 - losses.inherentLoss) : 1
        losses.record(
            window.covered, lost: window.lost, last: sending.nextPacket - Int64(window.outstanding))

        acknowledgedBitRate = sent * min(max(share, 0), 1)
        // A path that loses nothing of a source that sends little carries all of it. A peer that is busy answers late
        // now and then, which looks like a queue for a moment; a real one grows beyond that, until packets are lost.
        let isGrowing = queueBefore >= Self.certainQueue && queue > queueBefore + Self.longQueue
        queueBefore = queue
        let carriesAll =
            sending.isApplicationLimited && lastQueue == nil && !isGrowing
            && window.lost <= window.covered * Self.noLoss
        let isOurs =
            !sending.isApplicationLimited || window.outstanding >= Self.fewPackets
            || sent >= Self.little && share < Self.fullShare
        guard queue > Self.longQueue, isOurs else {
            defer { lastQueue = nil }
            return rateByLoss(sending, sent: sent, since: window.start, mayRise: lastQueue == nil, at: now)
        }
        guard window.hasQueue else {
            // A queue that is no longer measured is forgotten gradually.
            queue = queue / 2
            return sending.rate
        }
        losses.abandon(at: sending.nextPacket)
        guard !carriesAll else { return sending.rate }
        defer { lastQueue = queue }
        // The queue drains. The round trip was measured up to a second ago, so the queue may seem longer than it is.
        if let lastQueue, queue < lastQueue.scaled(by: Self.drained.queue) || share > Self.drained.share {
            return sending.rate
        }
        // Only between two reports that both found a queue was the link busy all the time.
        let isMeasured = lastQueue != nil || !sending.isApplicationLimited
        if isMeasured { capacity = (sent * share, now) }
        let lowest = isMeasured ? .zero : min(sent, sending.rate * 0.5)
        return min(sending.rate, max(sent * (share * Self.beta), lowest))
    }

    private mutating func rateByLoss(
        _ sending: SenderState, sent: BitRate, since start: MonotonicTime, mayRise: Bool, at now: MonotonicTime
    ) -> BitRate {
        let used = min(sending.rate, sent)
        let evaluation = losses.evaluate(
            rate: used, sent: sent, isApplicationLimited: sending.isApplicationLimited && sent < Self.little,
            next: sending.nextPacket, since: start, at: now)
        switch evaluation {
        case .keep:
            guard mayRise, !losses.isTrying, !sending.isApplicationLimited, queue < Self.shortQueue else { break }
            let elapsed = min(now - start, Self.maxElapsed)
            let isNear = capacity.map { Self.nearCapacity.contains(sending.rate / $0.rate) } ?? false
            // The step grows only with the root of the rate, so that flows that share a link converge.
            let root = Double(sending.rate.bitsPerSecond).squareRoot()
            let perRoot = isNear ? Self.increasePerRoot.near : Self.increasePerRoot.far
            let step = min(BitRate(rounding: perRoot * root), sending.rate * Self.maxIncrease) * elapsed.seconds
            // A source that sends less than the rate doesn't show that a link which was full lately carries more.
            guard let capacity, now - capacity.measuredAt < Self.limitTime else { return sending.rate + step }
            let most = max(
                capacity.rate * Self.limitShares.measured, acknowledgedBitRate * Self.limitShares.arriving)
            return min(sending.rate + step, max(sending.rate, most))
        case .lower(let rate):
            if losses.isTrying { triedRate = sending.rate }
            return min(rate, sending.rate)
        case .restore: return max(triedRate, sending.rate)
        case .carries(let rate): capacity = (rate, now)
        }
        return sending.rate
    }
}
