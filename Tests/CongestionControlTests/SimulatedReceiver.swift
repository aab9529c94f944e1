import MediaTypes
import RTP

/// Notes arrivals and writes feedback about them. Transport-wide feedback is as libwebrtc's: from the first packet not
/// yet reported, or an earlier one that has come late, to the newest one received.
struct SimulatedReceiver {
    /// What one datagram tells the sender.
    enum Feedback {
        case transport(TransportFeedback)
        /// A reception report, with the time of the last sender report that arrived, and the time since then.
        case reception(ReceptionReport, echo: (sentAt: Int64, delay: Int64)?)
    }

    /// What the receiver's clock is ahead by, in units of 250 µs.
    private static let clockOffset: Int64 = 77_777_777
    private static let farAway = Int64.max

    /// The arrival of each packet, in nanoseconds.
    private var times: [Int64] = []
    private var next = 0
    private var reportedAt: Int64 = 0
    private var feedbackCount = 0

    private var senderReport: (sentAt: Int64, arrivedAt: Int64)?
    private var highest = -1

    /// Notes the arrival of a sender report.
    mutating func noteReport(sentAt: Int64, at time: Int64) {
        senderReport = (sentAt, time)
    }

    mutating func note(_ number: Int, at time: Int64) {
        while times.count <= number { times.append(Self.farAway) }
        if time < times[number] { times[number] = time }
    }

    /// The feedback about what has arrived until `now`, if anything has.
    mutating func transportFeedback(at now: Int64) -> Feedback? {
        var first = next
        var number = max(0, next - 100)
        while number < next {
            if times[number] > reportedAt, times[number] <= now {
                first = number
                break
            }
            number += 1
        }
        var end = next
        number = next
        while number < times.count {
            if times[number] <= now { end = number + 1 }
            number += 1
        }
        reportedAt = now
        guard end > first else { return nil }
        var arrivals: [TransportFeedback.Arrival] = []
        arrivals.reserveCapacity(end - first)
        var reference: Int64?
        var last: Int64 = 0
        for number in first..<end {
            guard times[number] <= now else {
                arrivals.append(.notReceived)
                continue
            }
            let units = times[number] / 250_000 + Self.clockOffset
            if reference == nil {
                reference = units / 256
                last = units / 256 * 256
            }
            arrivals.append(.received(delta: Int16(clamping: units - last)))
            last = units
        }
        next = max(next, end)
        guard let reference else { return nil }
        return .transport(
            TransportFeedback(
                sender: SSRC(1), media: SSRC(2), base: UInt16(truncatingIfNeeded: first),
                referenceTime: Int32(reference & 0xFF_FFFF), feedbackCount: 0, arrivals: arrivals))
    }

    /// The reception report about what has arrived until `now` (RFC 3550 appendix A.3), if anything has.
    mutating func receptionReport(at now: Int64) -> Feedback? {
        let before = highest
        var received = 0
        for number in max(0, before - 300)..<times.count where times[number] <= now {
            highest = max(highest, number)
            if times[number] > reportedAt { received += 1 }
        }
        reportedAt = now
        guard highest >= 0 else { return nil }
        let expected = highest - before
        let lost = max(expected - received, 0)
        let echo: (sentAt: Int64, delay: Int64)? = senderReport.flatMap {
            $0.arrivedAt <= now ? ($0.sentAt, now - $0.arrivedAt) : nil
        }
        return .reception(
            ReceptionReport(
                ssrc: SSRC(2), fractionLost: UInt8(clamping: expected > 0 ? lost * 256 / expected : 0),
                highestSequenceNumber: UInt32(highest), lastSenderReport: UInt32((echo?.sentAt ?? 0) / 1_000_000),
                delaySinceLastSenderReport: UInt32((echo?.delay ?? 0) * 65536 / 1_000_000_000)),
            echo: echo)
    }
}
